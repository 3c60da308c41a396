import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'

export const completionCommands: CommandGroup = {
  commands: [
    {
      path: 'completion',
      summary: 'print a shell completion script',
      target: 'none',
      arguments: [{ name: 'shell', note: 'bash, zsh, fish or pwsh' }],
      examples: [
        'source <(perdure completion bash)',
        'perdure completion fish > ~/.config/fish/completions/perdure.fish',
      ],
      output: 'document',
      schema: v.object({ shell: v.string(), script: v.string() }),
      load: async () => (await import('../commands/completion-command.ts')).completionCommand,
    },
  ],
}
