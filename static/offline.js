// Asks for the service worker (sw.js), which lets the page start without a network.
//
// Not in frames: there the page is somebody else's guest. Not without a secure origin: browsers refuse it there.
(() => {
  'use strict';

  if (window.top !== window || !window.isSecureContext || !('serviceWorker' in navigator)) return;
  // After everything that the page itself needs.
  addEventListener('load', () => {
    navigator.serviceWorker
      .register('./sw.js', { updateViaCache: 'none' })
      .catch((error) => console.info(`Bioscope will not start without a network: ${error.message}`));
  });
})();
