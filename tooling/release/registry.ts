import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runServer } from 'verdaccio'

/** A registry on the loopback interface, with an empty storage of its own. */
export interface LoopbackRegistry {
  readonly url: string
  /** Lets npm, pnpm, Yarn and Bun use the registry, in the format of `.npmrc`. */
  readonly npmrc: string
  /** Stops the registry and deletes its packages. */
  close(): Promise<void>
}

/**
 * Starts a registry for the packages of this repository, which it takes from nowhere else. It passes requests for other
 * packages on to the registry that npm is configured to use.
 */
export async function startRegistry(): Promise<LoopbackRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-registry-'))
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { cwd: folder, encoding: 'utf8' }).trim()
  const own = { access: '$all', publish: '$all', unpublish: '$all' }
  const server: Server = await runServer({
    storage: join(folder, 'storage'),
    configPath: join(folder, 'verdaccio.yaml'),
    self_path: join(folder, 'verdaccio.yaml'),
    web: { enable: false },
    auth: {},
    middlewares: {},
    uplinks: { upstream: { url: upstream, maxage: '1h', timeout: '60s' } },
    packages: { perdure: own, 'create-perdure': own, '@perdure/*': own, '**': { access: '$all', proxy: 'upstream' } },
    server: { keepAliveTimeout: 60 },
    log: { type: 'stdout', format: 'json', level: 'fatal' },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const npmrc = [
    `registry=http://127.0.0.1:${port}/`,
    // Clients refuse to publish without a token; this registry accepts everyone.
    `//127.0.0.1:${port}/:_authToken=rehearsal`,
    '',
  ].join('\n')
  writeFileSync(join(folder, '.npmrc'), npmrc)
  return {
    url: `http://127.0.0.1:${port}/`,
    npmrc,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
