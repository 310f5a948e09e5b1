// The theme that was chosen, set before the first drawing; without one the system's holds.

try {
  const theme = localStorage.getItem("prolocutor.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme holds.
}
