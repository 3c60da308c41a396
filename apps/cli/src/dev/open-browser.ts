import { spawn } from 'node:child_process'

type Env = Readonly<Record<string, string | undefined>>

/** Command that opens a URL, by `process.platform`. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/**
 * Opens the URL with the program in `BROWSER`, or with the default program of the platform. Calls `onFailure` if that
 * program cannot be started.
 */
export function openBrowser(url: string, env: Env, onFailure: (command: string) => void): void {
  const [command, ...args] = env.BROWSER ? [env.BROWSER] : (OPENERS[process.platform] ?? ['xdg-open'])
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true, env })
  child.once('error', () => onFailure(command))
  child.unref()
}
