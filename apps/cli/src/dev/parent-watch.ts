import { Socket } from 'node:net'
import process from 'node:process'

/** The fifth stream of a forked server: nobody writes to it, and it closes when the process at its other end is gone. */
const LIFELINE_FD = 4

// On a thread of its own, so that code of an agent that never yields cannot keep an orphan alive.
const lifeline = new Socket({ fd: LIFELINE_FD })
lifeline.on('error', () => undefined)
lifeline.once('close', () => process.kill(process.pid, 'SIGKILL'))
lifeline.resume()
