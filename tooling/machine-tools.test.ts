import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startedWithoutTable } from './started-programs.ts'

const root = join(import.meta.dirname, '..')
const TESTS = ['*.test.ts', '*.fixture.ts', 'e2e/**', 'tooling/*.ts', 'apps/*/test/**', 'packages/*/test/**']
const sources = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...TESTS], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => /\.(?:ts|mjs|cjs)$/.test(path) && existsSync(join(root, path)))

const POSTGRES = [
  "programPath('postgres', binaries)",
  "programPath('pg_ctl', binaries)",
  "programPath('postgres'",
  'program',
]

/** Programs of the repository, and variables and functions whose callers look a tool up in the table. */
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  'apps/cli/src/dev/dev-server.test.ts': ['fileURLToPath'],
  'apps/cli/src/manifest/manifest.test.ts': ["['bash'"],
  'e2e/deploy.test.ts': ['file'],
  'e2e/examples.test.ts': ["join(EXAMPLES, 'support-evals/node_modules/.bin/perdure')"],
  'e2e/guide-tools.ts': ["['bash'"],
  'e2e/guides.test.ts': ["['curl'"],
  'e2e/perdure-process.ts': ['command'],
  'e2e/started-example.ts': ["join(bin, 'perdure')"],
  'e2e/started-process.ts': ['command'],
  'e2e/torture/egress.ts': ['command'],
  'packages/http/src/documents/asyncapi.test.ts': ['redocly'],
  'packages/http/src/documents/openapi.test.ts': ['redocly'],
  'packages/postgres/src/host/failover.test.ts': ["run('pg_dump'", "run('psql'"],
  'tooling/consumer/packages.ts': ["'pnpm'", 'file'],
  'tooling/layers.test.ts': ['cli'],
  'tooling/machine-tools.ts': ['path', "usable('podman'", "usable('strace'", "usable('unshare'"],
  'tooling/postgres-server.ts': POSTGRES,
  'tooling/release/image.ts': ["['podman'"],
  'tooling/release/next-version.ts': ["join(root, 'node_modules/.bin/changeset')"],
  'tooling/release/rehearsal-folder.ts': ['file'],
}

describe('a test', () => {
  it('starts programs of the machine only through the table of tools', () => {
    const own = /^tooling\/(?:machine-tools\.test|started-programs)\.ts$/
    const started = sources
      .filter((path) => !own.test(path))
      .flatMap((path) => {
        const found = startedWithoutTable(readFileSync(join(root, path), 'utf8'), GIVEN[path])
        return found.map((program) => `${path}: ${program}`)
      })

    expect(sources.length).toBeGreaterThan(500)
    expect(started).toEqual([])
  })

  it('has an exception only where it needs one', () => {
    const needless = Object.entries(GIVEN).flatMap(([path, given]) =>
      given.filter((one) => !startedWithoutTable(readFileSync(join(root, path), 'utf8')).includes(one)),
    )

    expect(needless).toEqual([])
  })
})

describe('startedWithoutTable', () => {
  const IMPORT = "import { spawn } from 'node:child_process'\n"

  it.each([
    ["spawn('strace', args)", "'strace'"],
    ["spawnSync('/usr/sbin/nginx', [])", "'/usr/sbin/nginx'"],
    ["promisify(execFile)('jq', ['.'])", "'jq'"],
    ['execFileSync(\n  command,\n)', 'command'],
    ["spawn(pathOf('caddy'), [])", "pathOf('caddy')"],
    ["startServer(sandbox, SERVE, ['strace', '-f'])", "['strace'"],
    ["startProcess({ command: 'curl', args })", "command: 'curl'"],
    ["run('pg_dump', args)", "run('pg_dump'"],
  ])('finds %s', (source, program) => {
    expect(startedWithoutTable(IMPORT + source)).toContain(program)
  })

  it.each([
    'spawn(process.execPath, [])',
    "spawnSync(toolPath('strace'), [])",
    "execFileSync('git', ['status'])",
    "pattern.exec('strace')",
    "needsTool('strace', 'ip').it('x', run)",
    "expect(out).toContain('curl')",
  ])('accepts %s', (source) => {
    expect(startedWithoutTable(IMPORT + source)).toEqual([])
  })
})

describe('TEST_TOOLS=none', () => {
  it('hides every tool', () => {
    const script = `import { findTool, missingPackages, TOOLS, toolPath } from '${join(root, 'tooling/machine-tools.ts')}'
      const found = Object.keys(TOOLS).filter((name) => findTool(name) !== undefined)
      let message
      try { toolPath('nginx') } catch (error) { message = error.message }
      console.log(JSON.stringify({ found, message, packages: missingPackages() }))`
    const env = { ...process.env, TEST_TOOLS: 'none' }
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' })

    expect(JSON.parse(stdout)).toEqual({
      found: [],
      message: 'nginx is missing: apt-get install nginx-light',
      packages: expect.arrayContaining(['caddy', 'nginx-light', 'prometheus']),
    })
  })
})
