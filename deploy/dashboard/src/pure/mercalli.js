// The Mercalli intensity of a station's event.

const itemOf = (event) => event.intensity?.find((item) => item.scale === "mmi");

// `told`: as it is shown, with whether it is certain (`uncertain`: a start or a gap leaves open how strong it was). `of`: that on
// which decisions rest: where it is not certain, that from the acceleration. NaN without one.
export const mercalli = {
  told: (event) => ({ value: itemOf(event)?.value ?? NaN, uncertain: itemOf(event)?.uncertain === true }),
  of(event) {
    const item = itemOf(event);
    return (item?.uncertain ? item.from_pga : item?.value) ?? NaN;
  },
};
