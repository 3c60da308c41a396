/** The line a measured process prints once it accepts connections. */
export function announce(server) {
  const { port } = server.address()
  console.log(`listening on http://127.0.0.1:${port}`)
}
