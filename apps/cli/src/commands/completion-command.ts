import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import { SHELLS, type Shell } from '../command-line.ts'

export function completionCommand({ out, cli }: Call, { shell }: { readonly shell: string }): void {
  if (!isShell(shell)) throw usageError(`unknown shell ${shell}`, `choose one of ${SHELLS.join(', ')}`)
  const script = cli.completion(shell)
  out.document({ shell, script }, () => script)
}

const isShell = (name: string): name is Shell => SHELLS.some((shell) => shell === name)
