import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { DockerfileParser } from 'dockerfile-ast'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BINARY, createSandbox, LEDGER_CONFIG, perdure, type Sandbox } from './perdure-process.ts'

/** How a deployment starts the server, with the paths of the target machine. */
interface Deployed {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The project folder and the data folder. */
  readonly folders: readonly [project: string, data: string]
}

const print = async (sandbox: Sandbox, what: string): Promise<string> => {
  const { stdout, stderr } = await perdure(sandbox, ['deploy', 'print', what])
  if (stdout === '') throw new Error(stderr)
  return stdout
}

async function dockerfile(sandbox: Sandbox): Promise<Deployed & { readonly healthCheck: string }> {
  const parsed = DockerfileParser.parse(await print(sandbox, 'dockerfile'))
  const contentOf = (keyword: string) =>
    parsed
      .getInstructions()
      .findLast((one) => one.getKeyword() === keyword)
      ?.getRawArgumentsContent() ?? ''
  const entries = parsed.getENVs().flatMap((one) => one.getProperties())
  return {
    command: [...JSON.parse(contentOf('ENTRYPOINT')), ...JSON.parse(contentOf('CMD'))],
    env: Object.fromEntries(entries.map((entry) => [entry.getName(), entry.getUnescapedValue() ?? ''])),
    folders: [contentOf('WORKDIR'), contentOf('VOLUME')],
    healthCheck: contentOf('HEALTHCHECK').replace(/^CMD /, ''),
  }
}

async function unit(sandbox: Sandbox): Promise<Deployed> {
  const lines = (await print(sandbox, 'systemd')).split('\n')
  const all = (name: string) =>
    lines.flatMap((line) => (line.startsWith(`${name}=`) ? line.slice(name.length + 1) : []))
  return {
    command: all('ExecStart')[0]?.split(' ') ?? [],
    env: Object.fromEntries(all('Environment').map((entry) => entry.split(/=(.*)/s).slice(0, 2))),
    folders: [all('WorkingDirectory')[0] ?? '', `/var/lib/${all('StateDirectory')[0]}`],
  }
}

/**
 * Creates the folders that the deployment names inside the sandbox and rewrites its paths, so that its commands run
 * unchanged.
 */
function installAt({ command, env, folders: [project, data] }: Deployed, { dir, env: base }: Sandbox) {
  const here = (text: string) =>
    text
      .replaceAll(project, join(dir, 'project'))
      .replaceAll(data, join(dir, 'data'))
      .replaceAll('%d', join(dir, 'keys'))
  for (const folder of ['project/node_modules/.bin', 'data', 'keys']) mkdirSync(join(dir, folder), { recursive: true })
  symlinkSync(BINARY, join(dir, 'project/node_modules/.bin/perdure'))
  writeFileSync(join(dir, 'project/perdure.config.mjs'), `export { default } from '${pathToFileURL(LEDGER_CONFIG)}'\n`)
  writeFileSync(join(dir, 'keys/pepper'), 'p'.repeat(40), { mode: 0o600 })
  const { PERDURE_STORAGE_PATH: _, ...inherited } = base
  const set = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, here(value)]))
  const path = `${set.PATH?.replace('$PATH', '') ?? ''}${dirname(process.execPath)}:${base.PATH}`
  const options: SpawnOptions = {
    cwd: join(dir, 'project'),
    env: { ...inherited, ...set, PATH: path, PERDURE_SERVER_HOST: '127.0.0.1', PERDURE_SERVER_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  }
  const [file = '', ...args] = command.map(here)
  return { file, args, options }
}

async function start(deployed: Deployed) {
  const sandbox = createSandbox()
  const { file, args, options } = installAt(deployed, sandbox)
  const server = spawn(file, args, options)
  onTestFinished(() => void server.kill('SIGKILL'))
  const exited = once(server, 'exit')
  const lines = createInterface({ input: server.stdout as NonNullable<typeof server.stdout> })
  const [line] = await Promise.race([once(lines, 'line'), exited])
  const { host, port, basePath } = JSON.parse(line)
  const run = async (script: string) => {
    const env = { ...options.env, PERDURE_URL: `http://${host}:${port}${basePath}` }
    const [code] = await once(spawn('sh', ['-c', script], { ...options, env }), 'exit')
    return code as number
  }
  return {
    ...{ url: `http://${host}:${port}`, dir: sandbox.dir, run },
    async stop() {
      server.kill('SIGTERM')
      return (await exited) as [number | null, NodeJS.Signals | null]
    },
  }
}

describe('the output of perdure deploy print', () => {
  it('runs the server of the Dockerfile; the health check and the Kubernetes probes pass until it stops', async () => {
    const here = createSandbox()
    const deployed = await dockerfile(here)
    const server = await start(deployed)
    expect(deployed.healthCheck).toMatch(/^perdure health /)

    const kubernetes = await print(here, 'kubernetes')
    const paths = [...kubernetes.matchAll(/httpGet: \{ path: (?<path>\S+),/g)].map(({ groups }) => groups?.path)
    const probes = await Promise.all(paths.map((path) => fetch(`${server.url}${path}`)))
    expect(probes.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await server.run(deployed.healthCheck)).toBe(0)
    expect(await server.stop()).toEqual([0, null])
    expect(await server.run(deployed.healthCheck)).toBe(1)
    expect(headOf(server.dir)).toBe('SQLite format 3')
  })

  it('runs the server of the systemd unit with the pepper from systemd credentials', async () => {
    const deployed = await unit(createSandbox({ E2E_PEPPER: undefined }))
    const server = await start(deployed)

    expect((await fetch(`${server.url}/v1/health/ready`)).status).toBe(200)
    expect(await server.stop()).toEqual([0, null])
    expect(headOf(server.dir)).toBe('SQLite format 3')
  })
})

const headOf = (dir: string) => readFileSync(join(dir, 'data/perdure.db')).subarray(0, 15).toString()
