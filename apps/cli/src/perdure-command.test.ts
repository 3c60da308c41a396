import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryDir } from '../test/temporary-dir.ts'
import { perdureCommand } from './perdure-command.ts'

const dir = temporaryDir()
const bin = () => join(dir(), 'tools/node_modules/.bin')

beforeEach(() => {
  mkdirSync(bin(), { recursive: true })
  writeFileSync(join(bin(), 'perdure'), '')
})

describe('perdureCommand', () => {
  it('is perdure when the command is on the PATH', () => {
    expect(perdureCommand({ cwd: dir(), env: { PATH: `/nowhere:${bin()}` } })).toBe('perdure')
  })

  it('ignores the PATH entries that npm adds for a script', () => {
    const env = { PATH: bin(), npm_lifecycle_event: 'dev' }

    expect(perdureCommand({ cwd: dir(), env })).toMatch(/^node \/.*bin\/perdure\.js$/)
  })

  it('uses the script of the project, or its installed package', () => {
    mkdirSync(join(dir(), 'node_modules/.bin'), { recursive: true })
    writeFileSync(join(dir(), 'node_modules/.bin/perdure'), '')
    expect(perdureCommand({ cwd: dir(), env: {} })).toBe('node_modules/.bin/perdure')

    writeFileSync(join(dir(), 'package.json'), '{"scripts":{"perdure":"perdure"}}')
    expect(perdureCommand({ cwd: dir(), env: {} })).toBe('npm run perdure --')
  })

  it('never calls a package runner that could download another package', () => {
    expect(perdureCommand({ cwd: dir(), env: {} })).not.toMatch(/npx|dlx|bunx/)
  })
})
