import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy {
  readonly port: number
  /** The port that new connections are forwarded to. */
  target: number
  readonly cuts: () => number
  close(): Promise<void>
}

/** Forwards TCP connections and destroys each after `connectionMs()` milliseconds. */
export async function openCuttingProxy(connectionMs: () => number): Promise<CuttingProxy> {
  const open = new Set<Socket>()
  let cuts = 0
  const server = createServer((inner) => {
    const outer = connect(proxy.target, '127.0.0.1')
    const cut = () => {
      inner.destroy()
      outer.destroy()
    }
    const timer = setTimeout(() => {
      cuts++
      cut()
    }, connectionMs())
    for (const socket of [inner, outer]) {
      open.add(socket)
      socket.on('error', cut)
      socket.on('close', () => {
        clearTimeout(timer)
        open.delete(socket)
        cut()
      })
    }
    inner.pipe(outer).pipe(inner)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: CuttingProxy = {
    port: (server.address() as AddressInfo).port,
    target: 0,
    cuts: () => cuts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
  return proxy
}
