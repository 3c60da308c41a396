import { useApp } from '../app-context.ts'

/** Copies a text; where the browser has no clipboard (plain HTTP), selects it in a dialog of the browser. */
export function CopyButton({ text, children }: { readonly text: () => string; readonly children: string }) {
  const { notify } = useApp()
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      notify('Copied')
    } catch {
      prompt('Copy this text:', text())
    }
  }
  return (
    <button type="button" onClick={() => void copy()}>
      {children}
    </button>
  )
}
