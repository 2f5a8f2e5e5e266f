// The Mercalli intensity of a station's event.

const itemOf = (event) => event.intensity?.find((item) => item.scale === "mmi");

// `isCertain`: whether an object of `intensity` stands for the whole event: neither `uncertain` (a start or a gap leaves open how
// strong it was) nor `inexact` (its acceleration may be off). `told`: as it is shown, with whether it is certain. `of`: that on
// which decisions rest: where it is not certain, that from the acceleration. NaN without one.
const isCertain = (item) => !item?.uncertain && !item?.inexact;

export const mercalli = {
  isCertain,
  told: (event) => ({ value: itemOf(event)?.value ?? NaN, uncertain: !isCertain(itemOf(event)) }),
  of(event) {
    const item = itemOf(event);
    return (item?.uncertain ? item.from_pga : item?.value) ?? NaN;
  },
  // Whether that, or the acceleration where there is none, rests on an acceleration that may be off.
  isRough: (event) => event.acceleration_valid === false && !(itemOf(event) && isCertain(itemOf(event))),
};
