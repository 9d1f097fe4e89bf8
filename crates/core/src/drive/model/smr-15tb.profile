# 15 TB host-managed SMR disk, SATA, 7200 rpm: WD's Ultrastar DC HC620.
# One line a number: key = value # unit, provenance. No number is fitted.

name = smr-15tb # text, own name

zone_size = 256 # MiB, zonedstorage.io, all shingled disks of this maker
zone_capacity = 256 # MiB, equal to the zone size on SMR disks (zonedstorage.io)
nr_zones = 55880 # zones, zonedstorage.io, 15 TB disk
nr_conv_zones = 524 # zones, zonedstorage.io, 15 TB disk
max_open_zones = 128 # zones, zonedstorage.io: 15, 20 and 30 TB disks alike

rev = 8333333 # ns, 7200 rpm (trade press of 2018)
rate_outer = 243.2 # MiB/s, up to 255 MB/s (trade press of 2018)
rate_inner = 0.49 # of rate_outer, typical and unsourced for this drive (0.47 to 0.50 measured on others)
recording_zones = 64 # zones, as smr-30tb: assumed
settle = 2 # ms, as smr-30tb: no public figure
seek_full = 13.5 # ms, as smr-30tb: from a mean seek of about 8.2 ms (class value)

slots = 24 # commands, as smr-30tb: no public figure
slots_per_waiting = 3 # slots, as smr-30tb: no public figure
window_min = 2 # commands, as smr-30tb: no public figure
visit_commands = 3 # commands, as smr-30tb: no public figure
candidates = 2 # zones, as smr-30tb: no public figure
zone_reset = 0 # ms, zonedstorage.io: writing four full zones again takes no longer than writing four empty ones

interface_rate = 550 # MiB/s, SATA 6 Gb/s after protocol overhead (insensitive)
command = 20 # us, assumed (insensitive)
read_age = 1000 # ms, assumed: no public figure for the ageing of queued reads

writeback_in_flight = 488 # MiB, as smr-30tb: no public figure
writeback_segment_bytes = 11433 # bytes, as smr-30tb: no public figure
