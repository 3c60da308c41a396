/** Whether an address stays on this machine. */
export const isLoopback = (url: string): boolean =>
  URL.canParse(url) && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(new URL(url).hostname)
