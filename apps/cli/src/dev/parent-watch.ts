import { Socket } from 'node:net'
import process from 'node:process'

/** The fifth stream of a forked server. Nothing is written to it; it closes when the parent process ends. */
const LIFELINE_FD = 4

// A diagnostic report of Node.js repeats the environment, with its secrets, for every thread that does not opt out.
process.report.excludeEnv = true

// Runs in its own thread, so that an agent that blocks the event loop cannot keep an orphaned server alive.
const lifeline = new Socket({ fd: LIFELINE_FD })
lifeline.on('error', () => undefined)
lifeline.once('close', () => process.kill(process.pid, 'SIGKILL'))
lifeline.resume()
