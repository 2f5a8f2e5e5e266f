// Begins: the page first, then the connection. What is imported by name alone adds to the fleet, or is a view of its own.
import { alarm } from "./alarm.js";
import { archive } from "./archive.js";
import { earthquakes } from "./earthquakes.js";
import { fleet } from "./fleet.js";
import { kiosk } from "./kiosk.js";
import { link } from "./link.js";
import { Seismote } from "./page.js";
import { preferences } from "./preferences.js";
import { mapPlaces } from "./places.js";
import { policy } from "./pure/policy.js";
import { units } from "./pure/units.js";
import { router } from "./router.js";
import { sound } from "./sound.js";
import { stationWords } from "./station-words.js";
import { text, language } from "./text.js";
import { mapTiles } from "./tiles.js";
import { settingsProblem } from "./views/settings-trial.js";
import { frame } from "./views/frame.js";
import "./introductions.js";
import "./watching.js";
import "./panels.js";
import "./views/overview.js";
import "./views/earthquake.js";
import "./views/events.js";
import "./views/group.js";
import "./views/station.js";
import "./views/vibration.js";
import "./views/station-events.js";
import "./views/event.js";
import "./views/moment.js";
import "./views/history.js";
import "./views/levels.js";
import "./views/settings.js";
import "./views/health.js";

// From here on the browser lets the page connect to these brokers alone (and fetch one file of its own), and have pictures only
// from where its operator says, whatever a message may talk it into.
function allowOnly(urls) {
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = `${policy.connections(urls, [mapPlaces.address])}; ${policy.pictures(mapTiles.setting?.origin)}`;
  document.head.append(meta);
}

// For the console and for checks.
Object.assign(Seismote, { started: true, alarm, archive, earthquakes, fleet, link, preferences, router, text, language, units,
  settingsProblem, sound, stationWords });
frame.bar();
frame.banner();
alarm.start();
router.start();
allowOnly(policy.brokers(location));
link.connect();
fleet.start();
earthquakes.start();
archive.start();
fleet.introduce();
kiosk.start();
