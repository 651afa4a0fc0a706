"""Plain words that captions are made of, by what they do in one: the vocabulary of the small grammar."""


def listed(text: str, between: str | None = None) -> list[str]:
    """Return the words of a text, or what stands between a sign."""
    return text.split(between)


PERSON = listed(
    "man woman boy girl child person player batter catcher pitcher skier skateboarder surfer "
    "snowboarder rider kid lady guy toddler baby chef officer worker couple family student driver "
    "cyclist motorcyclist waiter"
)
ANIMAL = listed(
    "dog cat horse cow sheep elephant giraffe zebra bear bird duck goat puppy kitten lion monkey "
    "seagull pigeon pony bull lamb"
)
THING = listed(
    "car bus truck train boat plane airplane bike bicycle motorcycle skateboard surfboard snowboard "
    "frisbee kite ball bat racket umbrella bag suitcase backpack book laptop computer keyboard phone "
    "camera clock vase lamp television toilet sink oven refrigerator knife fork spoon plate bowl cup "
    "glass bottle box basket sign hydrant bench chair couch bed table desk shelf cabinet mirror pillow "
    "blanket towel toy flower plant tree fence pole statue tower bridge van scooter wagon boat ship "
    "jet helicopter sculpture candle"
)
FOOD = listed(
    "pizza sandwich cake donut banana apple orange carrot salad soup bread cheese rice meat chicken "
    "steak hotdog burger fruit broccoli egg cookie pastry tomato potato"
)
MASS = listed(
    "food water snow grass rice bread cheese meat fruit broccoli lettuce soup dirt sand luggage "
    "furniture clothing equipment traffic coffee wine beer milk juice graffiti"
)
PLACE = listed(
    "street beach field park room kitchen bathroom court hill road sidewalk table desk bench counter "
    "couch bed shelf wall building tree fence river lake ocean mountain forest farm zoo city yard "
    "garden porch deck pier floor ground rock branch chair window door track bridge ramp slope wave "
    "pool store restaurant office airport runway station garage driveway corner sky background distance"
)
CLOTHING = listed(
    "shirt hat jacket suit tie helmet dress uniform cap coat sweater scarf wetsuit costume vest skirt "
    "collar saddle"
)
COMPOUND = listed(
    "tennis player/baseball player/soccer player/tennis racket/baseball bat/stop sign/fire hydrant/"
    "traffic light/street sign/teddy bear/parking meter/cell phone/tennis court/baseball game/"
    "baseball field/ski slope/train station/coffee cup/kitchen counter/living room/dining room/"
    "dining table/birthday cake/pizza box/bus stop/toilet seat/shower curtain/cutting board/"
    "washing machine/parking lot/swimming pool/shopping cart/running shoe/walking path/brick building/"
    "glass vase/metal fence/city street/dirt road/street corner/computer monitor/clock tower/"
    "passenger train/fighter jet/polar bear/ski lift/skate park/water bottle/wine glass/window sill/"
    "book shelf/hotel room/bathroom sink/kitchen table/police officer/brown bear/paper plate/"
    "video game/remote control/street light/flower vase/cat food/dog bowl/beach umbrella/baby elephant/"
    "adult giraffe/mountain range/boat dock/train track/traffic sign/wedding cake/bread basket/"
    "watering hole/sleeping bag/baking sheet/riding boot/landing gear/fishing boat/racing bike/bath tub",
    "/",
)
ADJECTIVE = listed(
    "red blue green yellow white black brown gray grey orange pink purple small large big little young "
    "old tall short long tiny huge empty full open wooden colorful dirty clean white beautiful wet dry "
    "bright dark snowy sandy grassy busy crowded narrow wide wild plastic double single fresh ripe "
    "modern antique blonde bald furry fluffy cloudy rocky green different various several many other "
    "nice cute"
)
GIVEN = listed(
    "parked stuffed painted sliced fried baked grilled decorated paved fenced broken worn opened "
    "closed covered striped spotted tiled lit unmade framed packed cooked toasted folded"
)
GOING = listed(
    "smiling running sleeping flying standing passing moving winding growing barking burning oncoming"
)
COLOUR = listed("red blue green yellow white black brown gray orange pink purple tan gold silver")
# Verb, its -ing form, its third person, and what it takes: P person, A animal, T thing, F food, M mass,
# C clothing.
TRANSITIVE = listed(
    "ride riding rides AT/hold holding holds TFA/eat eating eats FM/throw throwing throws T/"
    "catch catching catches T/carry carrying carries TA/watch watching watches PTA/cut cutting cuts F/"
    "wear wearing wears C/fly flying flies T/swing swinging swings T/kick kicking kicks T/"
    "hit hitting hits T/pull pulling pulls TA/push pushing pushes TP/chase chasing chases AT/"
    "walk walking walks A/prepare preparing prepares FM/cook cooking cooks FM/read reading reads T/"
    "use using uses T/drink drinking drinks M/serve serving serves F/feed feeding feeds A/"
    "pet petting pets A/brush brushing brushes A/chew chewing chews T/take taking takes T/"
    "show showing shows TF/face facing faces T/bat batting bats T/surf surfing surfs T/"
    "cross crossing crosses T/drive driving drives T/lead leading leads A/hug hugging hugs PA/"
    "contain containing contains TF/display displaying displays TF/clean cleaning cleans T/"
    "make making makes F/touch touching touches TA/lift lifting lifts T/sell selling sells F/"
    "overlook overlooking overlooks T/get getting gets TF/toss tossing tosses T/paint painting paints T",
    "/",
)
PLAIN = listed(
    "sit sitting sits/stand standing stands/walk walking walks/lie lying lies/lay laying lays/"
    "run running runs/jump jumping jumps/sleep sleeping sleeps/graze grazing grazes/ski skiing skis/"
    "skate skating skates/skateboard skateboarding skateboards/snowboard snowboarding snowboards/"
    "surf surfing surfs/fly flying flies/play playing plays/swim swimming swims/pose posing poses/"
    "wait waiting waits/drive driving drives/travel traveling travels/rest resting rests/"
    "lean leaning leans/hang hanging hangs/talk talking talks/ride riding rides/eat eating eats/"
    "stop stopping stops/move moving moves/dig digging digs/climb climbing climbs/"
    "perch perching perches/gather gathering gathers/stare staring stares/slide sliding slides/"
    "bat batting bats/roll rolling rolls/float floating floats/wade wading wades/kneel kneeling kneels/"
    "cross crossing crosses",
    "/",
)
DONE = listed(
    "parked covered filled topped surrounded made attached seated mounted stacked placed displayed "
    "propped tied decorated painted piled loaded hung docked perched gathered lined stuck set served "
    "spread dressed crowded left"
)
NEAR = listed(
    "in on near at by under beside behind above over through across along around against inside "
    "outside toward towards into onto past between beneath underneath below beyond down up off with"
)
SIDES = listed(
    "in front of/on top of/in the middle of/on the side of/at the end of/on the back of/on the edge of/"
    "in back of/at the top of/by the side of/in the center of/at the bottom of/on the corner of/"
    "to the side of",
    "/",
)
PAIRS = listed("next to/out of/off of/inside of/outside of/across from", "/")
AMOUNT = listed(
    "group bunch couple herd pile plate bowl slice piece row stack flock pair bag box set line basket "
    "tray cup glass crowd team variety number lot"
)
VIEW = listed("picture photo photograph image painting view shot drawing sketch")
