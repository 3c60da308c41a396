/** Runs inside a network namespace: `unshare --net node e2e/torture/egress.ts`. Prints one JSON document. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toolPath } from '../../tooling/machine-tools.ts'
import { bearer, type Sandbox, startServer } from '../perdure-process.ts'
import { followBySse, followByWebSocket } from '../realtime-client.ts'
import { checkInvariants } from './invariants.ts'
import { playScenario } from './scenario.ts'
import { openWorld, SERVE } from './world.ts'

const SOCKET_CALLS = 'connect,sendto,sendmsg,sendmmsg'

const tracing = (output: string) => [
  toolPath('strace'),
  '-f',
  '--seccomp-bpf',
  '-e',
  `trace=${SOCKET_CALLS}`,
  '-o',
  output,
]

execFileSync(toolPath('ip'), ['link', 'set', 'lo', 'up'])
const outputs: string[] = []
const start = (sandbox: Sandbox) => {
  const output = join(sandbox.dir, `sockets-${outputs.length}`)
  outputs.push(output)
  return startServer(sandbox, SERVE, tracing(output))
}

const world = await openWorld({ seed: 1, start })
const verify = await playScenario(world, 'inside')
await world.ask({ path: '/sessions', key: 'hall', body: { id: 'hall' } })
const { token } = world
const options = { url: () => world.server().url, token, subject: 'session:hall/events', path: '/sessions/hall/events' }
const followers = [followBySse(options), followByWebSocket(options)]
await Promise.all(followers.map(({ following }) => following))
const reads = await readEverything()
for (const follower of followers) await follower.stop()
await world.kill()
await world.start()
await checkInvariants(world, [verify])
await world.kill('SIGTERM')

const foreign = outputs.flatMap(foreignIn)
const { counts, violations } = world
console.log(JSON.stringify({ requests: counts.requests, reads, foreign, violations, caught: catchOne(world.sandbox) }))
await world.end()
process.exit(0)

/** Traces a process that does connect to another machine. An empty result means that the trace misses connections. */
function catchOne({ dir }: Sandbox): readonly string[] {
  const output = join(dir, 'caught')
  const [command = '', ...args] = tracing(output)
  execFileSync(command, [...args, process.execPath, '-e', "fetch('http://192.0.2.1').catch(() => undefined)"])
  return foreignIn(output)
}

function foreignIn(output: string): readonly string[] {
  const lines = readFileSync(output, 'utf8').split('\n')
  return lines.filter((line) => line.includes('sa_family=') && !isLocal(line))
}

function isLocal(line: string): boolean {
  return (
    /sa_family=AF_UNIX|inet_addr\("127\.|inet_pton\(AF_INET6, "::1"/.test(line) || line.includes('sa_family=AF_NETLINK')
  )
}

/** Reads every GET endpoint without path parameters that the server documents. */
async function readEverything(): Promise<number> {
  const { url } = world.server()
  type Paths = { readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>> }
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as Paths
  const targets = Object.entries(paths).flatMap(([path, methods]) =>
    'get' in methods && !path.includes('{') ? [path] : [],
  )
  for (const path of targets) {
    const response = await fetch(url + path, { headers: { authorization: bearer(token).authorization } })
    await response.body?.cancel()
    if (response.status >= 500 && response.status !== 501) world.violate('I10', `${path} ${response.status}`)
  }
  return targets.length
}
