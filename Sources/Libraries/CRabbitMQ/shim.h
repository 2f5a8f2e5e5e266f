#ifndef CRABBITMQ_SHIM_H
#define CRABBITMQ_SHIM_H
/* Debian 12 has the headers without a folder, Debian 13 in one as well. */
#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/ssl_socket.h>
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#endif
#include <string.h>

/* What Swift cannot call: functions with any number of arguments, and unions of tables. */

static inline amqp_rpc_reply_t crabbitmq_login(
    amqp_connection_state_t connection, int heartbeat, const char *user, const char *password) {
    return amqp_login(connection, "/", 0, 131072, heartbeat, AMQP_SASL_METHOD_PLAIN, user, password);
}

/* A quorum queue that gives its messages to one consumer at a time, however often. */
static inline amqp_rpc_reply_t crabbitmq_declare(
    amqp_connection_state_t connection, amqp_channel_t channel, const char *name) {
    amqp_table_entry_t entries[3];
    memset(entries, 0, sizeof entries);
    entries[0].key = amqp_cstring_bytes("x-queue-type");
    entries[0].value.kind = AMQP_FIELD_KIND_UTF8;
    entries[0].value.value.bytes = amqp_cstring_bytes("quorum");
    entries[1].key = amqp_cstring_bytes("x-single-active-consumer");
    entries[1].value.kind = AMQP_FIELD_KIND_BOOLEAN;
    entries[1].value.value.boolean = 1;
    entries[2].key = amqp_cstring_bytes("x-delivery-limit");
    entries[2].value.kind = AMQP_FIELD_KIND_I32;
    entries[2].value.value.i32 = -1;
    amqp_table_t arguments = {3, entries};
    amqp_queue_declare(connection, channel, amqp_cstring_bytes(name), 0, 1, 0, 0, arguments);
    return amqp_get_rpc_reply(connection);
}

static inline amqp_rpc_reply_t crabbitmq_bind(
    amqp_connection_state_t connection, amqp_channel_t channel, const char *queue, const char *exchange,
    const char *key) {
    amqp_queue_bind(
        connection, channel, amqp_cstring_bytes(queue), amqp_cstring_bytes(exchange), amqp_cstring_bytes(key),
        amqp_empty_table);
    return amqp_get_rpc_reply(connection);
}

static inline amqp_rpc_reply_t crabbitmq_consume(
    amqp_connection_state_t connection, amqp_channel_t channel, const char *queue) {
    amqp_basic_consume(
        connection, channel, amqp_cstring_bytes(queue), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
    return amqp_get_rpc_reply(connection);
}

/* A message of JSON that outlives the nodes. Kind and name may be empty. */
static inline int crabbitmq_publish(
    amqp_connection_state_t connection, amqp_channel_t channel, const char *exchange, const char *key,
    const char *kind, const char *name, const void *body, size_t length) {
    amqp_basic_properties_t properties;
    memset(&properties, 0, sizeof properties);
    properties._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG;
    properties.content_type = amqp_cstring_bytes("application/json");
    properties.delivery_mode = 2;
    if (*kind) {
        properties._flags |= AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
        properties.type = amqp_cstring_bytes(kind);
        properties.message_id = amqp_cstring_bytes(name);
    }
    amqp_bytes_t bytes = {length, (void *)body};
    return amqp_basic_publish(
        connection, channel, amqp_cstring_bytes(exchange), amqp_cstring_bytes(key), 0, 0, &properties, bytes);
}

/* Milliseconds of UTC when the broker had a message; 0 where it has not said that. */
static inline int64_t crabbitmq_arrival(const amqp_basic_properties_t *properties) {
    if (properties->_flags & AMQP_BASIC_HEADERS_FLAG) {
        for (int i = 0; i < properties->headers.num_entries; i++) {
            const amqp_table_entry_t *entry = &properties->headers.entries[i];
            if (entry->key.len == 15 && memcmp(entry->key.bytes, "timestamp_in_ms", 15) == 0 &&
                entry->value.kind == AMQP_FIELD_KIND_I64) {
                return entry->value.value.i64;
            }
        }
    }
    if (properties->_flags & AMQP_BASIC_TIMESTAMP_FLAG) return (int64_t)properties->timestamp * 1000;
    return 0;
}

/* What a frame says: 0 nothing of interest, 1 acknowledged, 2 refused, 3 the end of channel, consumer or connection. */
static inline int crabbitmq_answer(const amqp_frame_t *frame, uint64_t *number, int *multiple) {
    if (frame->frame_type != AMQP_FRAME_METHOD) return 0;
    switch (frame->payload.method.id) {
    case AMQP_BASIC_ACK_METHOD: {
        const amqp_basic_ack_t *ack = (const amqp_basic_ack_t *)frame->payload.method.decoded;
        *number = ack->delivery_tag;
        *multiple = ack->multiple;
        return 1;
    }
    case AMQP_BASIC_NACK_METHOD: {
        const amqp_basic_nack_t *nack = (const amqp_basic_nack_t *)frame->payload.method.decoded;
        *number = nack->delivery_tag;
        *multiple = nack->multiple;
        return 2;
    }
    case AMQP_BASIC_CANCEL_METHOD:
    case AMQP_CHANNEL_CLOSE_METHOD:
    case AMQP_CONNECTION_CLOSE_METHOD: return 3;
    default: return 0;
    }
}

/* The text of a channel.close or connection.close; empty for others. */
static inline amqp_bytes_t crabbitmq_reason(amqp_method_number_t id, const void *decoded) {
    if (id == AMQP_CHANNEL_CLOSE_METHOD) return ((const amqp_channel_close_t *)decoded)->reply_text;
    if (id == AMQP_CONNECTION_CLOSE_METHOD) return ((const amqp_connection_close_t *)decoded)->reply_text;
    return amqp_empty_bytes;
}
#endif
