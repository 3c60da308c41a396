import { createServer } from 'node:net'

/** Picks a port below the ephemeral range, so that no other process receives it between two uses. */
export async function unusedPort(): Promise<number> {
  const port = 12_000 + Math.floor(Math.random() * 18_000)
  return (await isFree(port)) ? port : unusedPort()
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
