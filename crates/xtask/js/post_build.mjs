// Trunk's post_build hook: what is left to do on the built page, in order.
import { writePolicies } from './csp.mjs';
import { shortenNames } from './names.mjs';
import { writeServiceWorker } from './offline.mjs';
import { countWasm, splitWasm } from './split.mjs';

const source = process.env.TRUNK_SOURCE_DIR ?? '.';
const folder = process.env.TRUNK_STAGING_DIR ?? 'dist';
shortenNames(folder, process.env.BIOSCOPE_COUNT_CALLS ? countWasm : () => splitWasm(source, folder));
writePolicies(folder);
writeServiceWorker(source, folder);
