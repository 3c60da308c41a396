import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { root, rootManifest } from './consumer/packages.ts'
import { toolPath, URL_VARIABLE } from './machine-tools.ts'
import { needsTool } from './needed-tool.ts'
import { dueOf } from './release/state.ts'
import { workflowErrors } from './workflow-errors.ts'

const FOLDER = join(root, '.github/workflows')

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly uses?: string
  readonly needs?: string | readonly string[]
  readonly if?: string
  readonly environment?: string
  readonly permissions?: Readonly<Record<string, string>>
  readonly 'timeout-minutes'?: number
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> }
  readonly env?: Readonly<Record<string, string>>
  readonly steps?: readonly Step[]
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const files = readdirSync(FOLDER)
const text = (file: string) => readFileSync(join(FOLDER, file), 'utf8')
const workflows = new Map(files.map((file) => [file, parse(text(file), { uniqueKeys: true }) as Workflow]))
const jobs = [...workflows].flatMap(([file, workflow]) =>
  Object.entries(workflow.jobs).map(([name, job]) => ({ name: `${file}: ${name}`, job })),
)
const steps = jobs.flatMap(({ job }) => job.steps ?? [])
const scripts = steps.flatMap(({ run }) => run ?? [])
const jobOf = (name: string) => jobs.find((one) => one.name === name)?.job ?? expect.fail(`no job ${name}`)

describe('a workflow', () => {
  it.each(files)('is accepted by the parser of GitHub Actions: %s', async (file) => {
    expect(await workflowErrors(file, text(file))).toEqual([])
  })

  it.each([
    ['runs-on', 'runs-at'],
    ['needs: state', 'needs: another'],
    ["== 'version'", '= version'],
  ])('is refused by that parser when %s is replaced by %s', async (from, to) => {
    expect(await workflowErrors('release.yml', text('release.yml').replace(from, to))).not.toEqual([])
  })

  it('uses only actions that are pinned to a commit, with their version beside it, and workflows of this repository', () => {
    const lines = files.flatMap((file) => text(file).match(/uses: .*/g) ?? [])
    const isPinned = (line: string) => /^uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line)
    const [, local] = /^uses: \.\/(.+)$/m.exec(text('release.yml')) ?? []

    expect(lines.filter((line) => !isPinned(line) && !line.startsWith('uses: ./'))).toEqual([])
    expect(existsSync(join(root, local ?? ''))).toBe(true)
  })

  it('may only read by default; the jobs of a release have the other rights', () => {
    const more = jobs.filter(({ job }) => job.permissions !== undefined).map(({ name, job }) => [name, job.permissions])

    expect([...workflows.values()].map(({ permissions }) => permissions)).toEqual(
      files.map(() => ({ contents: 'read' })),
    )
    expect(more).toEqual([
      ['release.yml: propose', { contents: 'write', 'pull-requests': 'write' }],
      ['release.yml: publish', { contents: 'write', 'id-token': 'write' }],
    ])
  })

  it('needs no stored secret, and puts no expression into a shell', () => {
    expect(files.filter((file) => text(file).includes('secrets.'))).toEqual([])
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([])
  })

  it('ends each job after a time limit', () => {
    expect(jobs.filter(({ job }) => job.uses === undefined && !((job['timeout-minutes'] ?? 0) > 0))).toEqual([])
  })
})

describe('a command of a workflow', () => {
  /** The words of each simple command, without shell syntax. */
  const commands = scripts.flatMap((script) =>
    script
      .split(/\n|&&|\|\|/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  )

  needsTool('bash').it('is valid in bash', () => {
    for (const script of scripts) {
      expect(spawnSync(toolPath('bash'), ['-n', '-c', script], { encoding: 'utf8' })).toMatchObject({ status: 0 })
    }
  })

  it('calls only scripts of the root manifest, and files that exist', () => {
    const { scripts: own = {} } = rootManifest
    const called = commands.flatMap(
      (line) => /^(?:pnpm|npm run|npm(?= test)) (?!install)([\w:]+)/.exec(line)?.[1] ?? [],
    )
    const paths = commands.flatMap(
      (line) => line.match(/(?<=^node )[\w./]+|^\.ci\/\S+|\be2e\/[\w./-]+|\bpackages\/[\w/-]+(?!\S)/g) ?? [],
    )

    expect(called.filter((name) => !(name in own))).toEqual([])
    expect(called).toEqual(
      expect.arrayContaining(['pack', 'release:version', 'release:build', 'release:publish', 'test']),
    )
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
    expect(paths.length).toBeGreaterThan(5)
  })

  it('names only projects of the test configuration', () => {
    const config = readFileSync(join(root, 'vitest.config.ts'), 'utf8')
    const named = commands.flatMap((line) => [...line.matchAll(/--project (\S+)/g)].map(([, name]) => name))

    expect(new Set(named).size).toBeGreaterThan(2)
    expect(named.filter((name) => !config.includes(`name: '${name}'`))).toEqual([])
  })

  it('prints the state of this commit, from which the other jobs follow', () => {
    const [command = ''] = steps.flatMap(({ run }) =>
      run?.includes('release/state.ts') ? (run.split(' >> ')[0] ?? '') : [],
    )
    const output = execFileSync('sh', ['-c', command], { cwd: root, encoding: 'utf8' })
    const conditions = ['propose', 'publish'].map((name) => jobOf(`release.yml: ${name}`).if)

    expect(output).toMatch(/^due=(?:version|publication|nothing)\nversion=\d+\.\d+\.\d+\n$/)
    expect(conditions).toEqual(["needs.state.outputs.due == 'version'", "needs.state.outputs.due == 'publication'"])
    expect([dueOf(['one.md'], true), dueOf([], false), dueOf([], true)]).toEqual(['version', 'publication', 'nothing'])
  })

  it('installs the pnpm of the root manifest', () => {
    const [command = ''] = commands.filter((line) => line.startsWith('npm install --global'))
    const [, expression = ''] = /\$\((.+)\)/.exec(command) ?? []

    expect(execFileSync('sh', ['-c', expression], { cwd: root, encoding: 'utf8' }).trim()).toBe(
      rootManifest.packageManager,
    )
  })
})

describe('the matrix of the checks', () => {
  it('has the oldest supported Node.js, 22 and 24, on Linux and on macOS', () => {
    const found = jobOf('checks.yml: node').strategy?.matrix.include as readonly { node: unknown; runner: string }[]
    const [oldest] = /\d+\.\d+\.\d+/.exec(rootManifest.engines?.node ?? '') ?? []

    expect(found.map(({ node, runner }) => `${node} ${runner.replace(/-.*/, '')}`)).toEqual(
      expect.arrayContaining([`${oldest} ubuntu`, '22 macos', '24 macos', '24 ubuntu']),
    )
  })

  it('has x64 and arm64, where CI installs what it needs from its lockfile', () => {
    const found = jobOf('checks.yml: everything').strategy?.matrix.include as readonly { readonly arch: string }[]
    const { packages } = JSON.parse(readFileSync(join(root, '.ci/packages/package-lock.json'), 'utf8'))

    expect(found.map(({ arch }) => arch)).toEqual(['x64', 'arm64'])
    for (const { arch } of found) expect(packages).toHaveProperty([`node_modules/@pnpm/exe.linux-${arch}`])
  })

  it('has every version of PostgreSQL from the oldest that the guide names', () => {
    const { strategy, env } = jobOf('checks.yml: postgres')
    const guide = readFileSync(join(root, 'docs/guides/postgres.md'), 'utf8')
    const [, oldest] = /PostgreSQL (\d+) or newer/.exec(guide) ?? []

    expect(strategy?.matrix.postgres).toEqual([14, 15, 16, 17, 18])
    expect(strategy?.matrix.postgres?.[0]).toBe(Number(oldest))
    expect(Object.keys(env ?? {})).toContain(URL_VARIABLE)
  })
})

describe('the job that publishes', () => {
  const { steps: own = [], needs, environment } = jobOf('release.yml: publish')
  const runs = own.flatMap(({ run }) => run ?? [])

  it('waits for all checks, and for the approval that its environment asks for', () => {
    expect([needs, environment]).toEqual([['state', 'checks'], 'release'])
  })

  it('publishes the packed tarballs, with a statement of where they were built', () => {
    const { scripts: own = {} } = rootManifest
    const order = ['pnpm release:build', 'pnpm release:publish']

    expect(runs.filter((run) => order.includes(run))).toEqual(order)
    expect(own['release:build']).toContain('pnpm run pack')
    expect(own['release:publish']).toBe('node tooling/release/publish.ts dist --provenance')
  })
})
