import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const patterns = ['*.ts', '*.mjs', '*.cjs']
const sources = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...patterns], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '')

describe('a source file', () => {
  it('has at most 300 lines', () => {
    const long = sources.filter((path) => readFileSync(join(root, path), 'utf8').split('\n').length > 301)

    expect(sources.length).toBeGreaterThan(100)
    expect(long.filter((path) => !/\.test\.ts$/.test(path))).toEqual([])
  })

  it('names no package registry host', () => {
    for (const lock of ['pnpm-lock.yaml', '.ci/packages/package-lock.json'])
      expect(readFileSync(join(root, lock), 'utf8')).not.toMatch(/https?:\/\//)
  })
})
