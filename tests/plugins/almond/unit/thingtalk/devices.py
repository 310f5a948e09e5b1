"""Classes of devices for the tests, and the programs that the contract lists."""

from functools import cache

from prolocutor.plugins.almond.thingtalk.manifests import Manifests
from prolocutor.plugins.almond.thingtalk.parsing import parse_classes

CLASSES = """
class @com.twitter #_[name="Twitter"] {
  import loader from @org.thingpedia.v2();
  import config from @org.thingpedia.config.oauth2(client_id="x", scope=["read", "write"]);
  monitorable list query home_timeline(out text : String #_[canonical="text"],
                                       out author : Entity(tt:username),
                                       out hashtags : Array(Entity(tt:hashtag)),
                                       out likes : Number)
    #_[canonical="tweets in my timeline"] #_[confirmation="tweets"]
    #_[formatted=[{type="text", text="${author}: ${text}"}]] #[poll_interval=10min];
  action post(in req status : String #_[prompt="What do you want to tweet?"])
    #_[canonical="tweet"] #[confirm=true];
  action post_picture(in req caption : String, in req picture_url : Entity(tt:picture))
    #[confirm=false];
}
class @com.xkcd {
  monitorable query get_comic(in opt number : Number, out title : String,
                              out picture_url : Entity(tt:picture)) #[poll_interval=1day];
}
class @com.uber {
  list query price_estimate(in req start : Location, in req end : Location,
                            out low_estimate : Currency, out high_estimate : Currency,
                            out uber_type : Enum(pool, uber_x));
}
class @thermostat {
  monitorable query get_temperature(out value : Measure(C));
  action set_target_temperature(in req value : Measure(C)) #[confirm=false];
}
class @security-camera {
  monitorable query current_event(out has_sound : Boolean, out start_time : Date);
  action set_power(in req power : Enum(on, off)) #[confirm=false];
}
class @com.youtube {
  list query search_videos(in req query : String, out video_url : Entity(tt:url),
                           out title : String, out length : Measure(ms));
}
class @org.thingpedia.weather {
  monitorable query current(in opt location : Location #[default=$location.current_location],
                            out temperature : Measure(C), out status : Enum(sunny, raining));
}
class @org.thingpedia.builtin.thingengine.builtin {
  query get_time(out time : Time);
  action say(in req message : String) #[confirm=false];
}
class @org.prolocutor.todo extends @org.prolocutor.list {
  action add(in req item : String, in opt due : Date, in opt who : Entity(tt:contact))
    #[confirm=false];
}
abstract class @org.prolocutor.list {
  list query items(out item : String, out done : Boolean,
                   out weight : {net : Number, unit : String});
}
"""


@cache
def manifests() -> Manifests:
    """Return what the classes above declare; it takes long, so not before a test needs it."""
    return Manifests(parse_classes(CLASSES))


NEW = (
    '@com.twitter.post(status="lol");',
    "@com.twitter.home_timeline() => @com.twitter.post();",
    '@com.twitter.home_timeline() filter text =~ "foo";',
    'monitor(@com.twitter.home_timeline() filter author == "HillaryClinton"^^tt:username);',
    "monitor(text, author of @com.twitter.home_timeline());",
    (
        'monitor(@com.xkcd(id="com.xkcd-6"^^tt:device_id).get_comic()) => '
        '@com.twitter(id="com.twitter-foo"^^tt:device_id)'
        ".post_picture(caption=title, picture_url=picture_url);"
    ),
    "[text, author] of @com.twitter.home_timeline();",
    (
        'monitor(@com.twitter.home_timeline() filter text =~ "bar" && !(text =~ "lol") || '
        'text =~ "foo");'
    ),
    (
        "monitor(@com.twitter.home_timeline() filter in_array(author, "
        '["alice"^^tt:username, "bob"^^tt:username]));'
    ),
    "attimer(time=[new Time(12, 30)]);",
    "timer(base=$now, interval=1h) => @com.xkcd.get_comic();",
    "@security-camera.set_power(power=enum(on));",
    "monitor(@thermostat.get_temperature()) filter value >= 70F;",
    (
        "@com.uber.price_estimate(start=$location.home, end=$location.work) "
        "filter low_estimate >= 50$usd;"
    ),
    "count(@com.twitter.home_timeline());",
    "sort(number desc of @com.xkcd.get_comic())[1];",
    '$answer("hello");',
)
"""Programs of the contract in the new syntax."""

OLD = (
    'now => @org.thingpedia.builtin.thingengine.builtin.say(message="test");',
    (
        'now => @com.youtube.search_videos(query="lol"), '
        'video_url == "http://www.youtube.com"^^tt:url => notify;'
    ),
    (
        '{ monitor @com.xkcd(id="com.xkcd-6").get_comic() => '
        '@com.twitter(id="com.twitter-foo").post_picture(caption=title, picture_url=picture_url); }'
    ),
    "{ attimer(time=makeTime(12, 30)) => notify; }",
    'monitor @org.thingpedia.weather.current(location=makeLocation(1, 3, "Somewhere")) => notify;',
    "bookkeeping(choice(1));",
)
"""Programs of the contract in the old syntax."""

LISTED = NEW + OLD

REFUSED = {
    '#[executor="bob"^^tt:contact] @com.twitter.post();': ("executor", 3),
    "@com.xkcd.get_comic() filter any(@com.twitter.home_timeline() filter text == title);": (
        "any(...)",
        30,
    ),
    "function macro(p : Number) { @com.xkcd.get_comic(number=p); }": ("function or macro", 1),
    "[distance(location, new Location(1, 2))] of @com.xkcd.get_comic();": ("distance", 2),
    'dataset @foo { query = @com.xkcd.get_comic() #_[utterances=["x"]]; }': ("dataset", 1),
    "$dialogue @org.thingpedia.dialogue.transaction.execute; @com.xkcd.get_comic();": (
        "$dialogue",
        1,
    ),
    "$policy { true : now => @com.twitter.post; }": ("$policy", 1),
    "executor = self : { now => @com.xkcd.get_comic() => notify; }": ("executor", 1),
    "let table t := aggregate max steps of Q1;": ("let", 1),
    'source == "bob"^^tt:contact("Bob") : now => @com.twitter.post;': ("permission rule", 1),
}
"""Programs of the contract that are outside, each with what it is refused for, and its column."""
