import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDir } from '../../test/temporary-dir.ts'

const SOURCES = {
  location: import.meta.resolve('./location-of-error.ts'),
  track: import.meta.resolve('./track-imports.ts'),
}

describe('locationOfError', () => {
  const dir = temporaryDir()

  /** Imports `main.mjs` in a plain Node.js process, because the test runner would transform the modules. */
  const importMain = (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir(), name), text)
    const script = `
      import { locationOfError } from ${JSON.stringify(SOURCES.location)}
      import { trackImports } from ${JSON.stringify(SOURCES.track)}
      const imports = trackImports(${JSON.stringify(join(dir(), 'main.mjs'))})
      const error = await import(${JSON.stringify(join(dir(), 'main.mjs'))}).catch((error) => error)
      console.log(JSON.stringify({ location: locationOfError(error, imports.files()), files: imports.files() }))`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    expect(stderr).toBe('')
    return JSON.parse(stdout.replaceAll(`${dir()}/`, '')) as { location?: string; files: string[] }
  }

  it.each([
    ['does not parse', { 'broken.mjs': 'export const a = 1\nexport const b = "x\n' }, 'broken.mjs:2'],
    ['imports what is not exported', { 'broken.mjs': '\nimport { nothing } from "./sound.mjs"\n' }, 'broken.mjs:2'],
    ['throws', { 'broken.mjs': '\n\nnothing()\n' }, 'broken.mjs:3'],
  ])('finds the file and the line of a module that %s', (_, broken, location) => {
    const main = 'import "./sound.mjs"\nimport "./broken.mjs"\n'

    expect(importMain({ 'main.mjs': main, 'sound.mjs': 'export const a = 1\n', ...broken }).location).toBe(location)
  })

  it('finds the line of TypeScript that is not erasable', () => {
    const { location } = importMain({
      'main.mjs': 'import "./broken.ts"\n',
      'broken.ts': 'const a = 1\nenum B { C }\n',
    })

    expect(location).toBe('broken.ts:2')
  })

  it('is undefined for a thrown value without a stack', () => {
    expect(importMain({ 'main.mjs': 'throw "text"' }).location).toBeUndefined()
  })
})

describe('trackImports', () => {
  const dir = temporaryDir()

  it('reports imported project files, including a missing one, but no packages', () => {
    writeFileSync(join(dir(), 'main.mjs'), 'import "node:fs"\nimport "./a.mjs"\n')
    writeFileSync(join(dir(), 'a.mjs'), 'import "./missing.mjs"\n')
    const script = `
      import { trackImports } from ${JSON.stringify(SOURCES.track)}
      const imports = trackImports(${JSON.stringify(join(dir(), 'main.mjs'))}, (file) => console.log(file))
      await import(${JSON.stringify(join(dir(), 'main.mjs'))}).catch(() => undefined)`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })

    expect(stdout.trim().split('\n')).toEqual([join(dir(), 'a.mjs'), join(dir(), 'missing.mjs')])
  })
})
