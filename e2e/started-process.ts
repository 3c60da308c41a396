import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface StartedProcess {
  /** What it wrote that was waited for. */
  readonly match: RegExpExecArray
  output(): string
  /** Signals the process, and once that has ended whatever it has left behind. */
  stop(signal?: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

export interface Command {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Starts a command in a process group of its own. Rejects with its output when it ends before it writes what is waited for. */
export async function startProcess({ command, args, cwd, env }: Command, until: RegExp): Promise<StartedProcess> {
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  let output = ''
  const match = await new Promise<RegExpExecArray>((resolve, reject) => {
    const take = (chunk: Buffer): void => {
      output += chunk
      const found = until.exec(output)
      if (found !== null) resolve(found)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    exited.then(([code]) => reject(new Error(`${command} ended with ${code}:\n${output}`)), reject)
  })
  return {
    match,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      const [code, by] = await exited
      signalGroup(child.pid as number, signal)
      return { code, signal: by }
    },
  }
}

/** A process that left nothing behind has no group any more. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
