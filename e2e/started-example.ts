import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { type StartedProcess, startProcess } from './started-process.ts'

export const EXAMPLES = join(import.meta.dirname, '../examples')

/** A copy of an example folder, as a user would have it. */
export interface ExampleCopy {
  readonly cwd: string
  /** Starts a script of its `package.json`, and waits for output. */
  script(name: string, until: RegExp, more?: { readonly args?: string; readonly env?: object }): Promise<StartedProcess>
  /** Runs a command of the README in the folder and parses its JSON output. */
  perdure(...args: string[]): Promise<{ readonly [name: string]: unknown }>
}

/** Copies an example. Its servers listen on free ports. */
export function copyExample(name: string): ExampleCopy {
  const cwd = mkdtempSync(join(tmpdir(), `perdure-example-${name}-`))
  const from = join(EXAMPLES, name)
  const bin = join(from, 'node_modules/.bin')
  cpSync(from, cwd, { recursive: true, filter: (path) => !/[\\/](?:node_modules|\.graphorin)(?:$|[\\/])/.test(path) })
  symlinkSync(join(from, 'node_modules'), join(cwd, 'node_modules'))
  const PATH = [bin, dirname(process.execPath), process.env.PATH].join(delimiter)
  const env = { ...process.env, PATH, PERDURE_SERVER_PORT: '0', PORT: '0', API_PORT: '0' }
  const { scripts } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  return {
    cwd,
    script: (script, until, { args = '', env: own = {} } = {}) =>
      startProcess(
        { command: 'sh', args: ['-c', `exec ${scripts[script]} ${args}`], cwd, env: { ...env, ...own } },
        until,
      ),
    async perdure(...args) {
      const { stdout } = await promisify(execFile)(join(bin, 'perdure'), [...args, '--json'], { cwd, env })
      return JSON.parse(stdout)
    },
  }
}

export interface StartedExample extends Pick<ExampleCopy, 'cwd' | 'perdure'> {
  readonly server: StartedProcess
}

/** Runs the start script of an example in a copy of its folder until the end of the test. */
export async function startExample(name: string, until: RegExp): Promise<StartedExample> {
  const { cwd, script, perdure } = copyExample(name)
  const server = await script('start', until)
  onTestFinished(async () => {
    expect((await server.stop()).code, server.output()).toBe(0)
  })
  return { cwd, server, perdure }
}
