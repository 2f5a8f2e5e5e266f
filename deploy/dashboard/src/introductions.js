// Stations that speak and have not said who they are. A broker hands out what it keeps, but RabbitMQ does not to those who
// subscribe with a wildcard: there everybody is asked to say it again.

import { fleet } from "./fleet.js";
import { link } from "./link.js";

// What a broker keeps comes at once, and a station spreads its answer over some seconds (milliseconds).
const patience = 3000;
const pause = 20000;
const most = 4;

let asked = 0;
let last = -Infinity;
let since = NaN;

const isStranger = (now) => (known) => !known.info && now - known.heard < 10000;

function look() {
  const now = Date.now();
  if (link.since !== since) [since, asked] = [link.since, 0];
  if (link.state !== "online" || link.keeps || now - since < patience || now - last < pause * asked || asked >= most) return;
  const strangers = [...fleet.stations.values()].filter(isStranger(now));
  if (strangers.length === 0) return;
  asked++;
  last = now;
  if (strangers.length > 20) link.tell("group/all", "rebirth");
  else for (const { id } of strangers) link.tell(id, "rebirth");
}

fleet.introduce = () => setInterval(look, 1000);
