# 30 TB host-managed SMR disk, SATA, 7200 rpm, neighbour of the one measured in the commit log of QUEUE_ZONED_QD1_WRITES.
# One line a number: key = value # unit, provenance. "fitted on TABLE: CELLS" names the calibration cells.
# Fitted numbers describe the model, not a data sheet: no disk was measured for them.

name = smr-30tb # text, own name

zone_size = 256 # MiB, zonedstorage.io, 30 TB disk
zone_capacity = 256 # MiB, equal to the zone size on SMR disks (zonedstorage.io)
nr_zones = 111760 # zones, zonedstorage.io, 30 TB disk
nr_conv_zones = 1118 # zones, zonedstorage.io, 30 TB disk
max_open_zones = 128 # zones, zonedstorage.io, 30 TB disk

rev = 8333333 # ns, 7200 rpm (data-sheet class)
rate_outer = 249.6 # MiB/s, fitted on seed-000: all 44 cells
rate_inner = 0.49 # of rate_outer, typical and unsourced for this drive (0.47 to 0.50 measured on others)
recording_zones = 64 # zones, assumed: the published tables use the outer edge only
settle = 2 # ms, fitted on seed-000: all 44 cells
seek_full = 13.5 # ms, from a mean seek of about 8.2 ms (class value; 0 or 27 ms change no published cell)

slots = 24 # commands, fitted on seed-000: all 44 cells
slots_per_waiting = 3 # slots, fitted on seed-000: all 44 cells
window_min = 2 # commands, fitted on seed-000: all 44 cells
visit_commands = 3 # commands, fitted on seed-000: all 44 cells
candidates = 2 # zones, fitted on seed-000: all 44 cells
zone_reset = 299 # ms, fitted on seed-000: all 44 cells (no public figure for one reset was found)

interface_rate = 550 # MiB/s, SATA 6 Gb/s after protocol overhead (insensitive)
command = 20 # us, assumed (insensitive)
read_age = 1000 # ms, assumed: no public figure for the ageing of queued reads

writeback_in_flight = 488 # MiB, fitted on seed-000: all 44 cells (256 to 552 fit about as well)
writeback_segment_bytes = 11433 # bytes, fitted on seed-000: all 44 cells (168 segments = 1875 KiB, cut to 1872)
