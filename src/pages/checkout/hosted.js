// Where the checkout's page is shown: in a window of its own. See `mounted.js` for a frame.
const host = {
  begin: (start) => start(),
  setPaying: () => {},
  tellError: () => {},
  goTo: (address) => location.assign(address),
};
