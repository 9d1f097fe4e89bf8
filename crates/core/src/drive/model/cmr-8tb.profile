# 8 TB conventional nearline disk, SATA, 7200 rpm, of the class of WD's Ultrastar DC HC320 (7K8).
# One line a number: key = value # unit, provenance. No number is fitted; no disk was measured for them.

name = cmr-8tb # text, own name

zone_size = 256 # MiB, bands of the model: the disk has no zones
zone_capacity = 256 # MiB, equal to the band
nr_zones = 29808 # zones, whole bands of 15,628,053,168 sectors (the usual size of an 8 TB disk)
nr_conv_zones = 29808 # zones, all: the disk is not zoned
max_open_zones = 0 # zones, no limit

rev = 8333333 # ns, 7200 rpm (turn of 8.33 ms, latency 4.16 ms, data sheet of the 7K6/7K8 class)
rate_outer = 243.2 # MiB/s, 255 MB/s at the outer edge (figures of the 7K8, as reported in the storage press)
rate_inner = 0.48 # of rate_outer, typical and unsourced for this drive (0.47 to 0.50 measured on others)
recording_zones = 60 # zones, rate zones of a 4 TB disk of 7200 rpm in WD's DiskSim fork
settle = 0.9 # ms, with seek_full it gives the mean seek of 8.0 ms reported for the 7K8
seek_full = 13.3 # ms, shape of the 4 TB disk's seek table (settle 0.82, square root 13.3)

slots = 24 # commands, as smr-30tb: no public figure
slots_per_waiting = 3 # slots, as smr-30tb: no public figure
window_min = 2 # commands, as smr-30tb: no public figure
visit_commands = 3 # commands, as smr-30tb: no public figure
candidates = 2 # zones, as smr-30tb: no public figure
zone_reset = 0 # ms, no zones to reset

interface_rate = 550 # MiB/s, SATA 6 Gb/s after protocol overhead (insensitive)
command = 20 # us, assumed (insensitive)
read_age = 1000 # ms, assumed: no public figure for the ageing of queued reads

writeback_in_flight = 488 # MiB, as smr-30tb: the host's, and for zoned disks only
writeback_segment_bytes = 11433 # bytes, as smr-30tb: the host's, and for zoned disks only
