import type { Command } from 'commander'
import { usageError } from '../cli-error.ts'
import type { CommandContext } from '../command-context.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { tableText } from '../table-text.ts'

/** Help on a topic, on a command such as `token create`, or on the program. */
export function helpCommand({ terminal }: CommandContext, program: Command, words: readonly string[]): void {
  if (words[0] === 'exit-codes') {
    const rows = Object.values(EXIT_CODES).map(({ code, meaning }) => [String(code), meaning])
    terminal.stdout.write(tableText(['CODE', 'MEANING'], rows))
    return
  }
  terminal.stdout.write(findCommand(program, words).helpInformation())
}

function findCommand(program: Command, words: readonly string[]): Command {
  return words.reduce((parent, word) => {
    const found = parent.commands.find((command) => command.name() === word)
    if (found !== undefined) return found
    throw usageError(`there is no help on ${words.join(' ')}`, `topics: exit-codes; commands: berth --help`)
  }, program)
}
