import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { closedListsOf } from './closed-lists.ts'

const root = join(import.meta.dirname, '..')
const sources = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', '--', 'packages/*/src/*', 'apps/*/src/*'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((path) => /\.tsx?$/.test(path) && !/\.(?:test|test-d|fixture|d)\.tsx?$|\/migrations\/|\/testkit\//.test(path))

/** Lists that are the same by chance, or whose places may not import each other. */
const LOADED_LATER = 'the schema of what `perdure eval` prints: other commands do not load `evals`'
const TWICE: Readonly<Record<string, string>> = {
  'better same worse': LOADED_LATER,
  'costUsd durationMs runs signal': LOADED_LATER,
  'failed flaky passed': LOADED_LATER,
  'delta end start': 'the console does not import core',
}

/** A list may be repeated in one file, where both are in sight. */
const isRepeated = (lines: object = {}): boolean => Object.keys(lines).length > 1

describe('a list of values', () => {
  it('is found as a union and as an array, but not where a type selects members', () => {
    const lists = closedListsOf(`
      type Status = 'open' | 'held' | 'done' | undefined
      const statuses = ['done', 'open', 'held']
      type Seen = Pick<Row, 'open' | 'held' | 'done'>
    `)

    expect(lists).toEqual([
      { values: 'done held open', line: 2 },
      { values: 'done held open', line: 3 },
    ])
  })

  it('is written once: every other place derives from it', () => {
    const places = new Map<string, Readonly<Record<string, number>>>()
    for (const path of sources) {
      for (const { values, line } of closedListsOf(readFileSync(join(root, path), 'utf8'), path)) {
        places.set(values, { ...places.get(values), [path]: line })
      }
    }
    const repeated = [...places].filter(([values, lines]) => isRepeated(lines) && !(values in TWICE))

    expect(places.size).toBeGreaterThan(100)
    expect(Object.fromEntries(repeated)).toEqual({})
    expect(Object.keys(TWICE).filter((values) => !isRepeated(places.get(values)))).toEqual([])
  })
})
