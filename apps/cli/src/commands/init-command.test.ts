import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'
import { readVersion } from '../version.ts'

const FILES = [
  '.agents/skills/perdure/SKILL.md',
  '.gitignore',
  'AGENTS.md',
  'README.md',
  'agents/assess.ts',
  'model.ts',
  'package.json',
  'perdure.config.ts',
  'refund.test.ts',
  'tsconfig.json',
  'workflows/refund.ts',
]
const ENTRIES = [...new Set(FILES.map((path) => path.split('/')[0]))].sort()

describe('perdure init', () => {
  const dir = temporaryDir()

  const init = async (args: readonly string[], answer?: string) => {
    const terminal = recordingTerminal({ cwd: dir(), ...(answer === undefined ? {} : { answer }) })
    const exitCode = await runCli(['init', ...args], terminal)
    return { exitCode, out: terminal.out(), err: terminal.err() }
  }

  it('creates a project in a new folder and prints the next commands', async () => {
    const { exitCode, out } = await init(['hello', '--yes'])

    expect(exitCode).toBe(0)
    expect((await readdir(join(dir(), 'hello'))).sort()).toEqual(ENTRIES)
    expect(out).toContain('next: cd hello && npm install && npm run dev\n')
  })

  it.each([
    ['workflow', 'workflows/refund.ts', 'perdure dev'],
    ['embed-express', 'app.ts', 'node --watch server.ts'],
    ['embed-next', 'app/ai/v1/[...path]/route.ts', 'next dev'],
  ])('writes the template %s with its scripts and the version of this command', async (template, file, dev) => {
    const { exitCode, out } = await init(['my-app', '--yes', '--template', template])

    expect(exitCode).toBe(0)
    expect(out).toContain(`✓ my-app/${file}\n`)
    expect(out).toContain('next: cd my-app && npm install && npm run dev\n')
    expect(JSON.parse(await readFile(join(dir(), 'my-app/package.json'), 'utf8'))).toMatchObject({
      name: 'my-app',
      scripts: { dev, test: 'node --test' },
      dependencies: { perdure: `^${readVersion()}` },
    })
  })

  it('ignores data and secrets in .gitignore', async () => {
    await init(['--yes'])

    expect(await readFile(join(dir(), '.gitignore'), 'utf8')).toMatch(/^\.graphorin\/\nsecrets\/$/m)
  })

  it('lists existing files, writes nothing and exits 6', async () => {
    await writeFile(join(dir(), 'README.md'), 'mine')
    await writeFile(join(dir(), '.gitignore'), 'mine')
    const { exitCode, err } = await init(['--yes'])

    expect(exitCode).toBe(6)
    expect(err).toContain('error[file-exists]')
    expect(err).toContain(join(dir(), 'README.md'))
    expect(err).toContain(join(dir(), '.gitignore'))
    expect((await readdir(dir())).sort()).toEqual(['.gitignore', 'README.md'])
    expect(await readFile(join(dir(), 'README.md'), 'utf8')).toBe('mine')
  })

  describe('in a project with a package.json', () => {
    const own = (content: object) => writeFile(join(dir(), 'package.json'), JSON.stringify(content))
    const install = `npm install "perdure@^${readVersion()}" "zod@`
    const settings =
      'npm pkg set type=module scripts.dev="perdure dev" scripts.start="perdure server" scripts.test="node --test" scripts.typecheck=tsc scripts.perdure=perdure'

    it('keeps the file, writes the others and prints the commands that add what is missing', async () => {
      await own({ name: 'mine' })
      const { exitCode, out } = await init(['--yes'])

      expect(exitCode).toBe(0)
      expect(await readFile(join(dir(), 'package.json'), 'utf8')).toBe('{"name":"mine"}')
      expect((await readdir(dir())).sort()).toEqual(ENTRIES)
      expect(out).not.toContain('✓ package.json')
      expect(out).toContain('package.json exists and was not changed\n')
      expect(out).toContain(`next: ${install}`)
      expect(out).toContain(' && npm install --save-dev "@types/node@')
      expect(out).toContain(` && ${settings} && npm run dev\n`)
    })

    it('lists the same commands with --json', async () => {
      await mkdir(join(dir(), 'app'))
      await writeFile(join(dir(), 'app', 'package.json'), '{}')
      const { out } = await init(['app', '--yes', '--json'])

      expect(JSON.parse(out)).toEqual({
        dir: join(dir(), 'app'),
        files: FILES.filter((name) => name !== 'package.json'),
        kept: ['package.json'],
        next: [
          'cd app',
          expect.stringContaining(install),
          expect.stringMatching(/^npm install --save-dev "@types\/node@\S+" "typescript@\S+"$/),
          settings,
          'npm run dev',
        ],
      })
    })

    it('does not replace scripts or dependencies that the file has', async () => {
      await own({
        type: 'commonjs',
        scripts: { dev: 'vite', start: 'perdure server', test: 'vitest', typecheck: 'tsc -b' },
        dependencies: { zod: '^4.0.0' },
        devDependencies: { perdure: '^0.1.0', typescript: '^6.0.0', '@types/node': '^24.0.0' },
      })
      const { out } = await init(['--yes'])

      expect(out).toContain('next: npm install && npm pkg set scripts.perdure=perdure && npm run perdure -- dev\n')
    })

    it('prints the usual commands when nothing is missing', async () => {
      await init(['complete', '--yes'])
      await cp(join(dir(), 'complete', 'package.json'), join(dir(), 'package.json'))

      expect((await init(['--yes'])).out).toContain('next: npm install && npm run dev\n')
    })

    it('runs when the file is not valid JSON', async () => {
      await writeFile(join(dir(), 'package.json'), '{')

      expect(await init(['--yes'])).toMatchObject({ exitCode: 0, out: expect.stringContaining(install) })
    })

    it('still rejects every other existing file', async () => {
      await own({})
      await writeFile(join(dir(), 'README.md'), 'mine')
      const { exitCode, err } = await init(['--yes'])

      expect(exitCode).toBe(6)
      expect(err).toContain(join(dir(), 'README.md'))
      expect(err).not.toContain(join(dir(), 'package.json'))
      expect((await readdir(dir())).sort()).toEqual(['README.md', 'package.json'])
    })
  })

  it.each([['f'], ['f/below'], ['f/far/below']])('rejects the folder %s when f is a file', async (target) => {
    await writeFile(join(dir(), 'f'), 'mine')
    const { exitCode, err } = await init([target, '--yes'])

    expect(exitCode).toBe(6)
    expect(err).toContain('error[file-exists]')
    expect(err).toContain(join(dir(), 'f'))
    expect(await readFile(join(dir(), 'f'), 'utf8')).toBe('mine')
  })

  it('rejects a folder that is a dangling symlink', async () => {
    await symlink('nowhere', join(dir(), 'link'))

    expect(await init(['link', '--yes'])).toMatchObject({
      exitCode: 6,
      err: expect.stringContaining('error[file-exists]'),
    })
  })

  it('creates the folder with its parents', async () => {
    expect((await init(['a/b', '--yes'])).exitCode).toBe(0)
    expect((await readdir(join(dir(), 'a/b'))).sort()).toEqual(ENTRIES)
  })

  it('requires --yes without a terminal', async () => {
    const { exitCode, err } = await init([])

    expect(exitCode).toBe(2)
    expect(err).toContain('--yes')
    expect(await readdir(dir())).toEqual([])
  })

  it.each([
    ['', ENTRIES],
    ['y', ENTRIES],
    ['n', []],
  ])('prompts, and after the answer %j creates %j', async (answer, entries) => {
    await init([], answer)

    expect((await readdir(dir())).sort()).toEqual(entries)
  })

  it('writes one document with --json', async () => {
    const { out } = await init(['--yes', '--json'])

    expect(JSON.parse(out)).toEqual({ dir: dir(), files: FILES, kept: [], next: ['npm install', 'npm run dev'] })
  })

  it('rejects an unknown template', async () => {
    expect((await init(['--template', 'fancy', '--yes'])).exitCode).toBe(2)
  })
})
