// Trunk's post_build hook: what is left to do on the built page, in order.
import { writePolicies } from './csp.mjs';
import { shortenNames } from './names.mjs';
import { writeServiceWorker } from './offline.mjs';

const folder = process.env.TRUNK_STAGING_DIR ?? 'dist';
shortenNames(folder);
writePolicies(folder);
writeServiceWorker(process.env.TRUNK_SOURCE_DIR ?? '.', folder);
