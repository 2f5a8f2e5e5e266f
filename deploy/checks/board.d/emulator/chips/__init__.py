"""The chips, by name."""

from .adxl345 import ADXL345
from .adxl355 import ADXL355
from .lis2dw12 import LIS2DW12
from .lis3dh import LIS3DH
from .lsm6dso import LSM6DSO
from .mma845x import MMA8451, MMA8452
from .mpu6050 import MPU6050

CHIPS = {chip.__name__.lower(): chip
         for chip in (ADXL345, ADXL355, LIS2DW12, LIS3DH, LSM6DSO, MMA8451, MMA8452, MPU6050)}
