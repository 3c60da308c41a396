import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  CLIENT_CONFIG,
  createPlace,
  createToken,
  type Place,
  type RunningServer,
  startServer,
} from './berth-process.ts'

const root = join(import.meta.dirname, '..')

let place: Place
let token: string
let server: RunningServer

beforeAll(async () => {
  place = createPlace()
  token = await createToken(place)
  server = await startServer(place, ['server', '--config', CLIENT_CONFIG])
})

afterAll(() => server.kill('SIGTERM'))

/** Runs the JavaScript of a document as one program against the built package; answers what it printed. */
async function runSamples(path: string): Promise<string[]> {
  const samples = [...readFileSync(join(root, path), 'utf8').matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code)
  const entry = join(place.dir, 'entry.mjs')
  const program = join(place.dir, 'program.mjs')
  writeFileSync(entry, ['const { API, TOKEN } = process.env', ...samples].join('\n'))
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    resolve: { alias: { '@berth/client': join(root, 'packages/client/dist/index.js') } },
  })
  await bundle.write({ file: program, format: 'esm' })
  const env = { ...process.env, API: server.url, TOKEN: token }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], { env, timeout: 60_000 })
  expect(stderr).toBe('')
  return stdout.trim().split('\n')
}

describe('the samples', () => {
  it('of the package do what they say', async () => {
    const printed = await runSamples('packages/client/README.md')

    expect(printed.filter((line) => line.startsWith('run.')).map((line) => line.split(' ')[0])).toEqual([
      'run.started',
      'run.completed',
    ])
  })
})
