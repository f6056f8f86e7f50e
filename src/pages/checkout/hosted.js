// The host of the checkout's page when it has a window of its own. See `mounted.js` for a frame.
const host = {
  begin: (start) => start(),
  setPaying: () => {},
  tellError: () => {},
  goTo: (address) => location.assign(address),
};
