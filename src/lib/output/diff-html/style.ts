/** The page's own style; follows the reader's choice of light or dark. */
export const STYLE = `
:root{color-scheme:light dark;--line:#8884;--dim:#8888;--bad:#c31}
body{font:15px/1.45 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin:2rem 0 .6rem}h3{font-size:1rem;margin:1rem 0 .3rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.25rem .6rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{font-weight:600}
.findings td:nth-child(-n+3){white-space:nowrap}
.findings td:nth-child(3){font-family:ui-monospace,monospace}
tr.high td:first-child{color:var(--bad);font-weight:600}
tr.low td:first-child{color:var(--dim)}
ul.tiles{display:flex;flex-wrap:wrap;gap:.6rem;list-style:none;padding:0}
ul.tiles li{border:1px solid var(--line);border-radius:.4rem;padding:.4rem .8rem}
ul.tiles li.none{opacity:.45}
ul.tiles b{font-size:1.2rem}
i{display:inline-block;width:.7em;height:.7em;border-radius:2px;margin-right:.4em}
.panels{display:flex;flex-wrap:wrap;gap:1.5rem}
figure{margin:0;width:21rem}
svg{width:100%;border:1px solid var(--line)}
.space{fill:#8881}
figcaption{font-size:.85rem;margin-top:.3rem}
.bad{color:var(--bad)}.rest{color:var(--dim)}
`.replaceAll('\n', '');
