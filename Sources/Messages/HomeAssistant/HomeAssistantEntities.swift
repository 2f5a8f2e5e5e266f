/// What Home Assistant is shown of a station, as a table: data, not code. One line for each entity, columns between
/// semicolons:
///
/// 1. what kind of entity; with `*` there is one for each intensity relation, with `+` one for each axis, whose name
///    stands for `$` in the other columns, and for `^` the relation's scale; `~` is what the station's topics begin with,
///    `@` the filters that can be chosen;
/// 2. its key, unique within the station;
/// 3. the setting that it changes, or `-`: it is left out where the file locks that;
/// 4. its name for people;
/// 5. the topic below the station's, of its state or, for a button, of its command;
/// 6. the template of its value (Jinja), without the brackets around a plain expression; for what changes a setting the
///    template of the merge patch goes before it, with `=>` between;
/// 7. other members of the object, as JSON.
///
/// (Home Assistant takes `none` for no choice at all, so that no filter has another name.) Members of messages that may be missing are read with `get`, so that Home Assistant shows `unknown` and logs nothing.
enum HomeAssistantEntities {
    static let table: StaticString = #"""
        sensor; pga; -; Peak ground acceleration; state/summary; value_json.pga; "unit_of_measurement":"m/s²","state_class":"measurement","suggested_display_precision":4
        sensor; pgv; -; Peak ground velocity; state/summary; value_json.pgv; "device_class":"speed","unit_of_measurement":"m/s","state_class":"measurement","suggested_display_precision":5
        sensor*; intensity_$; -; Intensity ^ ($); state/summary; value_json.intensity|selectattr('relation','eq','$')|map(attribute='value')|first|default(none); "state_class":"measurement","suggested_display_precision":1,"json_attributes_topic":"~/state/summary","json_attributes_template":"{{ dict((value_json.intensity|selectattr('relation','eq','$')|first|default({})).items()|selectattr(0,'in',['scale','roman','grade','color']))|to_json }}"
        sensor; rms; -; RMS; state/summary; value_json.v3.rms; "unit_of_measurement":"m/s²","state_class":"measurement","suggested_display_precision":5
        sensor; dominant_frequency; -; Dominant frequency; state/summary; value_json.get('spectrum',{}).get('dominant_hz'); "device_class":"frequency","unit_of_measurement":"Hz","state_class":"measurement","suggested_display_precision":2
        binary_sensor; shaking; -; Shaking; state/summary; 'ON' if value_json.triggered else 'OFF'; "device_class":"vibration"
        event; event; -; Seismic event; event/trigger; dict(value_json.items()|selectattr(0,'in',['event_type','event_id','onset','end','pga','pga_pct_g','pgv','duration_s','intensity','dominant_hz','clipped','test']))|to_json; "event_types":["onset","update","end"]
        sensor; temperature; -; Sensor temperature; state/health; value_json.get('temperature_c'); "device_class":"temperature","unit_of_measurement":"°C","state_class":"measurement","suggested_display_precision":1
        sensor; clock_error; -; Clock error; state/health; value_json.time.get('error_ms'); "device_class":"duration","unit_of_measurement":"ms","state_class":"measurement","suggested_display_precision":2,"entity_category":"diagnostic"
        binary_sensor; clock_problem; -; Clock; state/health; 'OFF' if value_json.time.synced or value_json.time.source=='replay' else 'ON'; "device_class":"problem","entity_category":"diagnostic"
        binary_sensor; sensor_problem; -; Sensor; state/health; 'OFF' if value_json.sensor in ['ok','settling'] else 'ON'; "device_class":"problem","entity_category":"diagnostic"
        sensor; sensor_state; -; Sensor state; state/health; value_json.sensor; "entity_category":"diagnostic"
        sensor; alerts; -; Alerts; state/health; (value_json.alerts|join(', ')|truncate(250)) or 'none'; "entity_category":"diagnostic"
        sensor; uptime; -; Uptime; state/health; value_json.uptime_s|int; "device_class":"duration","unit_of_measurement":"s","entity_category":"diagnostic"
        sensor; rate; -; Sample rate; state/health; value_json.get('rate_hz'); "device_class":"frequency","unit_of_measurement":"Hz","suggested_display_precision":3,"entity_category":"diagnostic"
        sensor; gaps; -; Gaps; state/health; value_json.gaps; "state_class":"total_increasing","entity_category":"diagnostic"
        sensor; clipped; -; Clipped samples; state/health; value_json.clipped; "state_class":"total_increasing","entity_category":"diagnostic"
        sensor; outbox; -; Messages waiting; state/health; value_json.outbox.messages; "state_class":"measurement","entity_category":"diagnostic"
        sensor; dropped; -; Messages dropped; state/health; value_json.outbox.dropped.values()|sum; "state_class":"total_increasing","entity_category":"diagnostic"
        sensor; connects; -; Connections; state/health; value_json.mqtt.connects; "state_class":"total_increasing","entity_category":"diagnostic"
        sensor; memory; -; Memory; state/health; value_json.get('rss_bytes'); "device_class":"data_size","unit_of_measurement":"B","entity_category":"diagnostic"
        sensor; cpu; -; Processor use; state/health; value_json.get('cpu_pct'); "unit_of_measurement":"%","suggested_display_precision":1,"entity_category":"diagnostic"
        sensor; revision; -; Settings revision; state/config; value_json.rev; "entity_category":"diagnostic"
        number+; threshold_$; axes.$.detection.threshold; Threshold $; state/config; {'axes':{'$':{'detection':{'threshold':value}}}} => value_json.config.axes.$.detection.threshold; "unit_of_measurement":"m/s²","min":0,"max":2000,"step":0.001,"mode":"box"
        number; sta_lta_on; detection.sta_lta.on; STA/LTA on; state/config; {'detection':{'sta_lta':{'on':value}}} => value_json.config.detection.sta_lta.on; "min":0.01,"max":10000,"step":0.01,"mode":"box"
        number; sta_lta_off; detection.sta_lta.off; STA/LTA off; state/config; {'detection':{'sta_lta':{'off':value}}} => value_json.config.detection.sta_lta.off; "min":0.01,"max":10000,"step":0.01,"mode":"box"
        number; trace_rate; trace.rate_hz; Trace rate; state/config; {'trace':{'rate_hz':value}} => value_json.config.trace.rate_hz; "device_class":"frequency","unit_of_measurement":"Hz","min":0.1,"max":4000,"step":0.1,"mode":"box"
        select; filter; axes.all.filter; Filter; state/config; {} if value=='other' else {'axes':dict.fromkeys('xyz',{'filter':'none' if value=='unfiltered' else value if ':' in value else {'butterworth':{'type':'bandpass','corners_hz':value.split(' ')[0].split('-')|map('float')|list,'order':2}}})} => {% set a=value_json.config.axes %}{% set f=a.x.filter %}{% set b=f.get('butterworth',{}) if f is mapping else {} %}{% set n='unfiltered' if f=='none' else f if f is string else b.corners_hz|join('-')+' Hz' if b.get('type')=='bandpass' and b.order==2 and b.start=='zero' else '' %}{{ n if n in ['unfiltered',@] and f==a.y.filter and f==a.z.filter else 'other' }}; "options":["unfiltered",@,"other"]
        button; reset_extremes; -; Reset extremes; cmd/reset-extremes; ; "entity_category":"config"
        button; selftest; -; Self-test; cmd/selftest; ; "entity_category":"diagnostic"
        button; test_event; -; Test event; cmd/test-event; ; "entity_category":"diagnostic"
        """#

    /// For `@`: band passes of second order by their corners, and filters by their name.
    static let filters: StaticString = #"""
        "0.1-20 Hz","0.5-10 Hz","0.5-20 Hz","1-8 Hz","1-20 Hz","shake:lp5","shake:hp5","shake:bp1-3","shake:bp2.5-5","shake:bp0.5-3","shake:bp4-8"
        """#
}
