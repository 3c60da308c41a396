import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../tooling/consumer/packages.ts'
import type { ToolName } from '../tooling/machine-tools.ts'
import { startPostgres } from '../tooling/postgres-server.ts'
import type { ConsumerProject } from './consumer-project.ts'
import { startProcess } from './started-process.ts'

/** Returns the first runnable block of a README. */
export function exampleOf(path: string): { readonly language: string; readonly code: string } {
  const [, language = '', code = ''] = /\n```(js|ts|sh)\n(.*?)\n```/s.exec(readFileSync(path, 'utf8')) ?? []
  return { language, code }
}

interface ExampleFile {
  readonly project: ConsumerProject
  readonly path: string
}

interface Example {
  /** Runs the example and returns its output. */
  readonly run: (example: ExampleFile) => Promise<string>
  readonly prints: RegExp
  /** A tool that the example uses and that may be missing. */
  readonly needs?: readonly ToolName[]
}

const TOOLS_SERVER = join(root, 'packages/mcp/src/tools-server.fixture.ts')

const asProgram =
  (...args: readonly string[]) =>
  async ({ project, path }: ExampleFile): Promise<string> =>
    (await project.node(path, ...args)).stdout

async function asProgramWithPostgres({ project, path }: ExampleFile): Promise<string> {
  const server = await startPostgres()
  try {
    return (await project.nodeWith({ ...project.env, DATABASE_URL: server.url }, path)).stdout
  } finally {
    server.remove()
  }
}

/** Runs the example until it listens, then stops it. */
async function asServer({ project, path }: ExampleFile): Promise<string> {
  const env = { ...project.env, PORT: '0', PERDURE_PEPPER: 'p'.repeat(40) }
  const server = await startProcess(
    { command: process.execPath, args: [path], cwd: project.dir, env },
    /listening on .+\n/,
  )
  const { code } = await server.stop()
  return `${server.match[0]}exit ${code}`
}

async function asTest({ project, path }: ExampleFile): Promise<string> {
  const test = path.replace(/\.(\w+)$/, '.test.$1')
  writeFileSync(test, readFileSync(path))
  return (await project.bin('vitest', 'run', test)).stdout
}

/** Runs the example against a server of the project, started as the README says. */
async function asClient({ project, path }: ExampleFile): Promise<string> {
  const dir = join(project.dir, 'served')
  mkdirSync(dir)
  const command = join(project.dir, 'node_modules/.bin/perdure')
  const args = ['dev', '--port', '0', '--json']
  const server = await startProcess({ command, args, cwd: dir, env: project.env }, /\{"event":.*\}\n/)
  try {
    const { host, port, tokenFile } = JSON.parse(server.match[0])
    const { token } = JSON.parse(readFileSync(tokenFile, 'utf8'))
    const env = { ...project.env, API: `http://${host}:${port}/v1`, TOKEN: token }
    return (await project.nodeWith(env, path)).stdout
  } finally {
    await server.stop()
  }
}

/** Runs the installed command in place of the one that npm would download. */
async function asCreator({ project, path }: ExampleFile): Promise<string> {
  const [, args = ''] = /^npm create perdure@latest (.+)$/m.exec(readFileSync(path, 'utf8')) ?? []
  return (await project.bin('create-perdure', ...args.split(' ').filter((one) => one !== '--'))).stdout
}

async function asShell({ project, path }: ExampleFile): Promise<string> {
  const PATH = `${join(project.dir, 'node_modules/.bin')}:${project.env.PATH}`
  const env = { ...project.env, PATH, PERDURE_SERVER_PORT: '0' }
  const dev = await startProcess({ command: 'sh', args: [path], cwd: project.dir, env }, /API\s+http:\S+/)
  try {
    const rest = [...readFileSync(join(root, 'apps/cli/README.md'), 'utf8').matchAll(/\n```sh\n(.*?)\n```/gs)]
    const [, second = ''] = rest[1] ?? []
    const { match } = await startProcess(
      { command: 'sh', args: ['-ec', second], cwd: project.dir, env },
      /completed.+\n/,
    )
    return match.input
  } finally {
    await dev.stop()
  }
}

/** How to run the example of each package, and what it must print. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  '@perdure/ai-sdk': { run: asProgram(), prints: /^completed \{ text: 'Found: scarves' \} 1\n$/ },
  '@perdure/chat-sdk': { run: asProgram(), prints: /^true true\n$/ },
  '@perdure/cli': { run: asShell, prints: /^RUN\s+OF\s.+\nrun_\w+\s+echo\s+completed/m },
  '@perdure/console': { run: asProgram(), prints: /^true text\/html; charset=utf-8\n$/ },
  '@perdure/client': { run: asClient, prints: /^run\.started .*\n(?:.*\n)*run\.completed / },
  '@perdure/core': { run: asProgram(), prints: /^Hello Ann\n$/ },
  '@perdure/evals': { run: asProgram(), prints: /^refunds 5\n$/ },
  '@perdure/http': { run: asProgram(), prints: /^3\.1\.1 true\n$/ },
  '@perdure/in-memory': { run: asProgram(), prints: /^position 1\n\{\n {2}id: 'ses-1'/ },
  '@perdure/mcp': { run: asProgram(process.execPath, TOOLS_SERVER), prints: /^tool: add\n(?:.*\n)*.*heard: 'hello'/ },
  '@perdure/platform-node': {
    async run(example) {
      mkdirSync(join(example.project.dir, 'secrets'))
      writeFileSync(join(example.project.dir, 'secrets/pepper'), 'p'.repeat(40), { mode: 0o600 })
      return asProgram()(example)
    },
    prints: /^run_[0-9A-HJKMNP-TV-Z]{26}\n$/,
  },
  '@perdure/ports': {
    run: asProgram(),
    prints: /^session\.insert \+ session\.touch is durable\nsession\.insert met a conflict at write 0\n$/,
  },
  '@perdure/postgres': {
    needs: ['postgres'],
    run: asProgramWithPostgres,
    prints: /^true \[\n(?:.*\n)*.*position: 1/,
  },
  '@perdure/protocol': {
    run: asProgram(),
    prints: /^POST \/agents\/:agentId\/run 400 401 .*\n(?:.*\n)*agent:echo\/runs\/run_1\/events\nrun_1\nundefined\n$/m,
  },
  '@perdure/interop': { run: asProgram(), prints: /^Hello\n$/ },
  '@perdure/realtime': { run: asProgram(), prints: /retry: 1000(?:.*\n)*event: note\.taken/ },
  '@perdure/server-app': { run: asServer, prints: /^listening on http:\/\/127\.0\.0\.1:\d+\/v1\nexit 0$/ },
  '@perdure/sqlite': { run: asProgram(), prints: /^true \[\n(?:.*\n)*.*position: 1/ },
  'create-perdure': {
    run: asCreator,
    prints: /✓ my-app\/perdure\.config\.ts\n(?:.*\n)*next: cd my-app && npm install && npm run dev\n$/,
  },
  perdure: { run: asProgram(), prints: /^completed \{ greeting: 'Hello Ann' \}\n$/ },
  '@perdure/testkit': { run: asTest, prints: /Tests\s+\d{3} passed/ },
}
