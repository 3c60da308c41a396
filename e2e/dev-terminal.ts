import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import { expect } from 'vitest'
import { toolPath } from '../tooling/machine-tools.ts'
import { BINARY, type Sandbox } from './perdure-process.ts'

/** `perdure dev` in a pseudo-terminal, as a developer would see it. */
export interface DevTerminal {
  /** The output so far, without colours and cursor movements. */
  screen(): string
  raw(): string
  press(key: string): void
  /** Waits until the output matches. */
  shows(what: string | RegExp): Promise<void>
  readonly exited: Promise<number>
  kill(): void
}

/** `script` creates the terminal and forwards keys and output. */
export function openDevTerminal({ dir, env }: Sandbox, args: readonly string[] = []): DevTerminal {
  const command = [process.execPath, BINARY, 'dev', ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn(toolPath('script'), ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    cwd: dir,
    env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let raw = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    raw += chunk
  })
  const screen = () => stripVTControlCharacters(raw).replaceAll('\r\n', '\n')
  return {
    screen,
    raw: () => raw,
    press: (key) => void child.stdin.write(key),
    shows: (what) => expect.poll(screen, { interval: 20 }).toMatch(what),
    exited: once(child, 'exit').then(([code]) => code as number),
    kill: () => void child.kill('SIGKILL'),
  }
}

/** The ids of the server processes that `perdure dev` started in this folder. */
export async function serverProcesses({ dir }: Sandbox): Promise<readonly number[]> {
  const { readdir, readFile, readlink } = await import('node:fs/promises')
  const found = await Promise.all(
    (await readdir('/proc')).map(async (name) => {
      if (!/^\d+$/.test(name)) return []
      const [line, cwd] = await Promise.all([
        readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => ''),
        readlink(`/proc/${name}/cwd`).catch(() => ''),
      ])
      return line.includes('dev-server') && cwd === dir ? [Number(name)] : []
    }),
  )
  return found.flat()
}
