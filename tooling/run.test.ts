import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

let root: string
const at = (path: string) => join(root, path)
const write = (path: string, text: string, mode = 0o644) => {
  mkdirSync(dirname(at(path)), { recursive: true })
  writeFileSync(at(path), text, { mode })
}

/** A clone of the repository with a package manager that only records how it was called, and writes what is missing. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'perdure-clone-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const name of ['run.mjs', 'start-stamp.mjs']) {
    mkdirSync(at('tooling'), { recursive: true })
    copyFileSync(join(import.meta.dirname, name), at(`tooling/${name}`))
  }
  write('package.json', JSON.stringify({ packageManager: 'pnpm@1.2.3' }))
  write('pnpm-lock.yaml', 'lockfileVersion: 9\n')
  write('packages/core/src/index.ts', 'export const one = 1\n')
  utimesSync(at('packages/core/src/index.ts'), 1, 1)
  write('packages/core/package.json', '{}')
  write('apps/cli/bin/perdure.js', "console.log('served', ...process.argv.slice(2))\n")
  write(
    'bin/pnpm',
    `#!/bin/sh
[ "$1" = --version ] && { echo 1.2.3; exit; }
echo "$1 $4" >> "${root}/calls"
[ "$1" = install ] && mkdir -p "${root}/node_modules/valibot" "${root}/packages/core/node_modules/@perdure/ports"
[ "$1" = exec ] && { mkdir -p "${root}/packages/core/dist" "${root}/apps/cli/dist" "${root}/packages/perdure/docs"; echo built > "${root}/packages/perdure/docs/README.md"; echo built > "${root}/packages/core/dist/index.js"; echo built > "${root}/apps/cli/dist/main.js"; }
exit \${FAIL:-0}
`,
    0o755,
  )
})

/** Returns the calls of the package manager besides the output. */
function start(env: NodeJS.ProcessEnv = {}): SpawnSyncReturns<string> & { readonly calls: readonly string[] } {
  rmSync(at('calls'), { force: true })
  const result = spawnSync(process.execPath, [at('tooling/run.mjs'), 'start'], {
    env: { ...process.env, PATH: `${at('bin')}:${process.env.PATH}`, ...env },
    encoding: 'utf8',
  })
  const calls = existsSync(at('calls')) ? readFileSync(at('calls'), 'utf8').trimEnd().split('\n') : []
  return { ...result, calls: calls.map((line) => line.split(' ')[0] ?? '') }
}

describe('npm start', () => {
  it('says that it installs and builds, then serves', () => {
    const { stdout, stderr, calls } = start()

    expect(calls).toEqual(['install', 'exec'])
    expect(stderr).toMatch(/^installing packages .*\nbuilding …\n/)
    expect(stdout).toBe('served dev --demo\n')
  })

  it('calls no package manager when nothing has changed', () => {
    start()

    expect(start()).toMatchObject({ calls: [], stdout: 'served dev --demo\n', stderr: '' })
  })

  it.each<[string, () => void]>([
    ['a source was edited', () => write('packages/core/src/index.ts', 'export const one = 2\n')],
    ['a source was added', () => write('packages/core/src/two.ts', '')],
    ['a source was deleted', () => rmSync(at('packages/core/src/index.ts'))],
    ['a source was replaced by one of the same size and modification time', replaceSource],
    ['the lockfile was changed', () => write('pnpm-lock.yaml', 'lockfileVersion: 8\n')],
    ['a manifest was changed', () => write('packages/core/package.json', '{"a":1}')],
    ['node_modules was removed', () => rmSync(at('node_modules'), { recursive: true })],
    ['an installed package was removed', () => rmSync(at('node_modules/valibot'), { recursive: true })],
    [
      'a linked package was removed',
      () => rmSync(at('packages/core/node_modules/@perdure/ports'), { recursive: true }),
    ],
    ['a built file was removed', () => rmSync(at('packages/core/dist/index.js'))],
    ['the build was removed', () => rmSync(at('apps/cli/dist'), { recursive: true })],
    ['a built file was changed', () => write('apps/cli/dist/main.js', 'other')],
    ['the stamp is damaged', () => write('node_modules/.cache/perdure-start.json', '{')],
  ])('installs and builds again when %s', (_, change) => {
    start()
    change()

    expect(start().calls).toEqual(['install', 'exec'])
    expect(start().calls).toEqual([])
  })

  it('installs and builds again under another version of Node.js', () => {
    start()
    write('fake-version.cjs', "Object.defineProperty(process, 'version', { value: 'v99.0.0' })")

    expect(start({ NODE_OPTIONS: `--require ${at('fake-version.cjs')}` }).calls).toEqual(['install', 'exec'])
  })

  it('serves nothing and tries again next time when the build fails', () => {
    expect(start({ FAIL: '7' })).toMatchObject({ status: 7, stdout: '' })
    expect(start().calls).toEqual(['install', 'exec'])
  })
})

function replaceSource(): void {
  write('packages/core/src/index.ts', 'export const one = 9\n')
  utimesSync(at('packages/core/src/index.ts'), 1, 1)
}
