// The panels of the page (registry.js), in their order.
import "./panels/traces.js";
