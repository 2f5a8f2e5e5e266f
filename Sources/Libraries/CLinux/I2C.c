#include "CLinux.h"

#include <errno.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <sys/ioctl.h>

static int result(int code) { return code < 0 ? errno : 0; }

int clinux_i2c_functions(int file, unsigned long *functions) { return result(ioctl(file, I2C_FUNCS, functions)); }

int clinux_i2c_limits(int file, unsigned milliseconds, unsigned retries) {
    int code = result(ioctl(file, I2C_TIMEOUT, (unsigned long)(milliseconds + 9) / 10));
    return code ? code : result(ioctl(file, I2C_RETRIES, (unsigned long)retries));
}

int clinux_i2c_claim(int file, uint16_t address) { return result(ioctl(file, I2C_SLAVE, (unsigned long)address)); }

int clinux_i2c_read(int file, uint16_t address, uint8_t reg, uint8_t *data, uint16_t size, unsigned slots) {
    struct i2c_msg messages[2 * CLINUX_I2C_SLOTS];
    if (slots < 1 || slots > CLINUX_I2C_SLOTS) return EINVAL;
    for (unsigned slot = 0; slot < slots; slot++) {
        messages[2 * slot] = (struct i2c_msg){.addr = address, .len = 1, .buf = &reg};
        messages[2 * slot + 1] =
            (struct i2c_msg){.addr = address, .flags = I2C_M_RD, .len = size, .buf = data + slot * (unsigned)size};
    }
    struct i2c_rdwr_ioctl_data transfer = {.msgs = messages, .nmsgs = 2 * slots};
    int code = ioctl(file, I2C_RDWR, &transfer);
    if (code < 0) return errno;
    // The number of messages done; fewer than all is a failure, too.
    return code == (int)(2 * slots) ? 0 : EIO;
}

int clinux_i2c_write(int file, uint16_t address, uint8_t reg, uint8_t value) {
    uint8_t bytes[2] = {reg, value};
    struct i2c_msg message = {.addr = address, .len = 2, .buf = bytes};
    struct i2c_rdwr_ioctl_data transfer = {.msgs = &message, .nmsgs = 1};
    int code = ioctl(file, I2C_RDWR, &transfer);
    if (code < 0) return errno;
    return code == 1 ? 0 : EIO;
}

int clinux_i2c_smbus_read(int file, uint8_t reg, uint8_t *data, uint16_t size) {
    for (uint16_t index = 0; index < size; index++) {
        union i2c_smbus_data byte;
        struct i2c_smbus_ioctl_data transfer = {.read_write = I2C_SMBUS_READ,
                                                .command = (uint8_t)(reg + index),
                                                .size = I2C_SMBUS_BYTE_DATA,
                                                .data = &byte};
        if (ioctl(file, I2C_SMBUS, &transfer) < 0) return errno;
        data[index] = byte.byte;
    }
    return 0;
}
