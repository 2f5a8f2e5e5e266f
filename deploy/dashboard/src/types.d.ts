// What is there without being imported: the page's one global name (page.js), MQTT.js, and the page's own events.
declare var Seismote: any;
declare var mqtt: any;
declare var trustedTypes: any;

interface DocumentEventMap {
  "seismote-onset": CustomEvent<{ id: string, event: any }>;
  "seismote-view": CustomEvent<{ pattern: string, params: any }>;
  "seismote-dialog": CustomEvent;
}
