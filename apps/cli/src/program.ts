import { TOKEN_ENVS } from '@berth/protocol'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { CommandContext } from './command-context.ts'
import { readVersion } from './version.ts'

/** Every command with its flags. The work of a command is loaded when it runs, so that help needs no driver. */
export function createProgram(context: CommandContext): Command {
  const { stdout, stderr } = context.terminal
  const program = new Command('berth')
    .description('A durable server for agents.')
    .version(readVersion(), '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      outputError: () => undefined,
    })
    .helpCommand(false)
    .addHelpText('after', '\nMore help: berth help exit-codes, berth help <command>')

  addServing(program, context)
  addTokens(program, context)
  addMigrations(program, context)
  addStorage(program, context)
  addChecks(program, context)
  program
    .command('help [words...]')
    .description('show help on a command or on a topic: exit-codes')
    .action(async (words: string[]) =>
      (await import('./commands/help-command.ts')).helpCommand(context, program, words),
    )
  return program
}

function addServing(program: Command, context: CommandContext): void {
  withServing(program.command('server'))
    .description('start the server; SIGTERM drains and stops it')
    .option('--check', 'validate the configuration and its secrets, then exit')
    .addHelpText('after', examples('berth server --config berth.config.mjs', 'berth server --port 0 --json'))
    .action(async (flags) => (await import('./commands/server-command.ts')).serverCommand(context, flags))

  withServing(program.command('dev'))
    .description('start a server for one developer: makes a pepper and a token, prints what to try')
    .addHelpText('after', examples('berth dev', 'berth dev --demo --port 9000'))
    .action(async (flags) => (await import('./commands/dev-command.ts')).devCommand(context, flags))

  program
    .command('init [dir]')
    .description('write a configuration with one agent that needs no API key')
    .addOption(new Option('--template <name>', 'what to write').choices(['basic']).default('basic'))
    .option('--yes', 'do not ask')
    .option('--json', JSON_FLAG)
    .addHelpText('after', examples('berth init', 'berth init hello --yes'))
    .action(async (dir, flags) => (await import('./commands/init-command.ts')).initCommand(context, dir ?? '.', flags))
}

function addTokens(program: Command, context: CommandContext): void {
  const token = program.command('token').description('create, list and revoke tokens, beside a running server too')

  withConfig(token.command('create'))
    .description('mint a token; it is shown once')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption('--scopes <a,b>', 'what it may do, separated by commas', parseList)
    .option('--subject <subject>', 'who it speaks for; its own id when missing')
    .addOption(new Option('--env <env>', 'part of its text').choices(TOKEN_ENVS))
    .option('--expires <span>', 'lifetime, such as 12h or 30d')
    .option('--expires-at <instant>', 'ISO-8601 instant')
    .addHelpText(
      'after',
      examples(
        `TOKEN=$(berth token create --name ci --scopes agents:invoke:echo --expires 30d)`,
        'berth token create --name ops --scopes "admin:*" --json',
      ),
    )
    .action(async (flags) => (await import('./commands/token-command.ts')).tokenCreateCommand(context, flags))

  withConfig(token.command('list'))
    .description('list tokens, newest first; never their text')
    .addHelpText('after', examples('berth token list', 'berth token list --json'))
    .action(async (flags) => (await import('./commands/token-command.ts')).tokenListCommand(context, flags))

  withConfig(token.command('revoke <id>'))
    .description('revoke a token at once and for good')
    .addHelpText('after', examples('berth token revoke tok_01KX3FJ9M8', 'berth token revoke tok_01KX3FJ9M8 --json'))
    .action(async (id, flags) => (await import('./commands/token-command.ts')).tokenRevokeCommand(context, id, flags))
}

function addMigrations(program: Command, context: CommandContext): void {
  const migrations = program.command('migrate').description('look at and apply storage migrations')

  withConfig(migrations.command('status'))
    .description('show what is applied and what is pending; changes nothing')
    .addHelpText('after', examples('berth migrate status', 'berth migrate status --json'))
    .action(async (flags) => (await import('./commands/migrate-command.ts')).migrateStatusCommand(context, flags))

  withConfig(migrations.command('up'))
    .description('apply what is pending, after a copy of the file; the server must be stopped')
    .addHelpText('after', examples('berth migrate up', 'berth migrate up --config berth.config.mjs'))
    .action(async (flags) => (await import('./commands/migrate-command.ts')).migrateUpCommand(context, flags))
}

function addStorage(program: Command, context: CommandContext): void {
  const backup = program.command('backup').description('copy the database, beside a running server too')

  withConfig(backup.command('create'))
    .description('copy the database as it is now, with a manifest; an encrypted one stays encrypted')
    .option('--out <file>', 'where the copy goes; the folder backups beside the database when missing')
    .option('--verify', 'read the whole copy afterwards')
    .addHelpText('after', examples('berth backup create', 'berth backup create --out /mnt/berth.db --verify --json'))
    .action(async (flags) => (await import('./commands/backup-command.ts')).backupCreateCommand(context, flags))

  withConfig(backup.command('verify <file>'))
    .description('compare a copy with its manifest and read all of it; exit code 5 when something is wrong')
    .addHelpText('after', examples('berth backup verify /mnt/berth.db'))
    .action(async (file, flags) =>
      (await import('./commands/backup-command.ts')).backupVerifyCommand(context, file, flags),
    )

  withConfig(program.command('restore <file>'))
    .description('put a copy in the place of the database, which is kept; the server must be stopped')
    .addHelpText('after', examples('berth restore /mnt/berth.db'))
    .action(async (file, flags) => (await import('./commands/restore-command.ts')).restoreCommand(context, file, flags))

  const storage = program.command('storage').description('look after the database file')

  withConfig(storage.command('verify'))
    .description('read the whole database: pages, references, audit chain; exit code 5 when something is wrong')
    .addHelpText('after', examples('berth storage verify', 'berth storage verify --json'))
    .action(async (flags) => (await import('./commands/storage-command.ts')).storageVerifyCommand(context, flags))

  withConfig(storage.command('vacuum'))
    .description('give the space of deleted rows back to the disk; the server must be stopped')
    .addHelpText('after', examples('berth storage vacuum'))
    .action(async (flags) => (await import('./commands/storage-command.ts')).storageVacuumCommand(context, flags))
}

function addChecks(program: Command, context: CommandContext): void {
  withConfig(program.command('doctor'))
    .description('check this machine, the configuration, the secrets and the storage')
    .addHelpText('after', examples('berth doctor', 'berth doctor --json'))
    .action(async (flags) => (await import('./commands/doctor-command.ts')).doctorCommand(context, flags))

  program
    .command('version')
    .description('show the version')
    .option('--json', JSON_FLAG)
    .addHelpText('after', examples('berth version', 'berth version --json'))
    .action(async (flags) => (await import('./commands/version-command.ts')).versionCommand(context, flags))
}

const JSON_FLAG = 'one JSON document on stdout, also on failure'

const withConfig = (command: Command): Command =>
  command.option('--config <file>', 'configuration module or JSON file').option('--json', JSON_FLAG)

const withServing = (command: Command): Command =>
  withConfig(command)
    .option('--host <host>', 'address to listen on')
    .option('--port <port>', 'port to listen on; 0 for any free one', parsePort)
    .option('--demo', 'register the demo agents echo and digest')

const examples = (...lines: readonly string[]): string => `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.')
}

const parseList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
