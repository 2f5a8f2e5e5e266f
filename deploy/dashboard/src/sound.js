// The sound of an alarm. Browsers play none before the person has done something on the page: it is unlocked by a click, and
// after the page was loaded again by the first click or key.

// Two tones in turn (Hz), of which length and how often (s); not the pattern of an official warning. What is near sounds high and
// fast, what is far low and slow.
const near = { tones: [880, 660], length: 0.22, turn: 0.3 };
const far = { tones: [330, 262], length: 0.6, turn: 1.2 };
let pattern = near;
const longest = 30;

let context = null;
let output = null;
let until = -Infinity;

function made() {
  if (!context) {
    context = new AudioContext();
    output = context.createGain();
    output.gain.value = 0.6;
    output.connect(context.destination);
  }
  return context;
}

function tone(hertz, begin, seconds) {
  const oscillator = context.createOscillator();
  const gain = context.createGain();
  oscillator.type = "square";
  oscillator.frequency.value = hertz;
  gain.gain.setValueAtTime(0, begin);
  gain.gain.linearRampToValueAtTime(0.35, begin + 0.02);
  gain.gain.setValueAtTime(0.35, begin + seconds - 0.03);
  gain.gain.linearRampToValueAtTime(0, begin + seconds);
  oscillator.connect(gain).connect(output);
  oscillator.start(begin);
  oscillator.stop(begin + seconds);
}

let timer = null;
let next = 0;
let count = 0;
// A little ahead, so that a page in the background, whose timers come once a second, has no holes in its sound.
function schedule() {
  const now = context.currentTime;
  const { tones, length, turn } = pattern;
  while (next < Math.min(until, now + 1.5)) {
    tone(tones[count++ % tones.length], Math.max(now, next), length);
    next = Math.max(now, next) + turn;
  }
  if (now >= until) sound.stop();
}

export const sound = {
  // After a click of the person: makes sound possible, and lets hear that it is.
  async unlock() {
    try {
      await made().resume();
      tone(near.tones[0], context.currentTime + 0.02, near.length);
    } catch {
      // No sound on this machine.
    }
    return context?.state === "running";
  },
  // Unlocks at the first click or key, where sound is wanted.
  wake(wanted) {
    const unlock = () => wanted() && made().resume().catch(() => {});
    for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, unlock, { capture: true, passive: true });
    if (wanted()) unlock();
  },
  play(isFar = false, seconds = longest) {
    // What is near is not made quieter by what is far.
    if (sound.isPlaying() && pattern === near && isFar) return;
    made();
    sound.stop();
    pattern = isFar ? far : near;
    if (context.state !== "running") context.resume().catch(() => {});
    next = context.currentTime;
    until = next + seconds;
    clearInterval(timer);
    timer = setInterval(schedule, 400);
    schedule();
  },
  stop() {
    clearInterval(timer);
    timer = null;
    until = -Infinity;
    if (!context) return;
    // What is already scheduled is not heard any more.
    output.disconnect();
    output = context.createGain();
    output.gain.value = 0.6;
    output.connect(context.destination);
  },
  // What was played last: "near" or "far", and its tones in Hz.
  pattern: () => (pattern === far ? "far" : "near"),
  tones: () => pattern.tones,
  isPlaying: () => timer !== null && context?.state === "running",
  // "none" before anybody wanted it, "waiting" for a click, "ready".
  state: () => (context === null ? "none" : context.state === "running" ? "ready" : "waiting"),
  // The largest sample that goes to the loudspeaker now, 0 to 1: for checks.
  level() {
    if (!context) return 0;
    const analyser = context.createAnalyser();
    output.connect(analyser);
    return new Promise((resolve) => setTimeout(() => {
      const samples = new Float32Array(analyser.fftSize);
      analyser.getFloatTimeDomainData(samples);
      output.disconnect(analyser);
      resolve(samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0));
    }, 120));
  },
};
