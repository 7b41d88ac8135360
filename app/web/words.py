"""The words of the interface, each in both languages; templates read them as `words.name`."""

from app.language import Language, Text

WORDS: dict[str, Text] = {
    "skip": Text("Skip to the text", "跳到正文"),
    "notes": Text("Notes", "笔记"),
    "widgets": Text("Experiments", "实验"),
    "concepts": Text("Concepts", "概念"),
    "compare": Text("Compare runs", "比较运行"),
    "compare_short": Text("Compare", "比较"),
    "main_menu": Text("Main menu", "主菜单"),
    "theme": Text("Light or dark", "切换明暗"),
    "contents": Text("Contents", "目录"),
    "planted": Text("planted", "种于"),
    "tended": Text("tended", "最近照料"),
    "minutes": Text("{} min", "约 {} 分钟"),
    "not_dated": Text("not dated", "日期未知"),
    "correct": Text("Correct this page", "修正本页"),
    "source": Text("Source of this page", "本页源文件"),
    "licence": Text("Text: {}", "文字许可：{}"),
    "by": Text("by {}", "作者：{}"),
    "program": Text("Grown with Perennial {}", "由 Perennial {} 生成"),
    "api": Text("For programs", "程序接口"),
    "presets": Text("Presets", "预设"),
    "controls": Text("Parameters", "参数"),
    "more": Text("More parameters", "更多参数"),
    "compute": Text("Compute", "计算"),
    "exact": Text("exact", "精确"),
    "exact_why": Text(
        "IEEE arithmetic written out: the same bits on every machine", "逐步写出的 IEEE 运算：在任何机器上逐位相同"
    ),
    "measured": Text("measured", "实测"),
    "measured_why": Text(
        "run with torch: versions and processors differ", "用 torch 运行：版本与处理器不同，结果可能不同"
    ),
    "code": Text("code that ran", "执行的代码"),
    "permalink": Text("link to this state", "此状态的链接"),
    "own_page": Text("page of its own", "单独打开"),
    "embed_it": Text("for an iframe", "嵌入其他网页"),
    "stale": Text("The result shown belongs to the values before.", "显示的仍是之前那组值的结果。"),
    "unreachable": Text(
        "The server did not answer; the result shown belongs to the values before.",
        "服务器没有应答；显示的仍是之前那组值的结果。",
    ),
    "wrong": Text("This cannot be computed", "这组值无法计算"),
    "checkpoint": Text("Checkpoint", "检查点"),
    "checkpoint_save": Text("Download this checkpoint", "下载这个检查点"),
    "checkpoint_load": Text("Resume from a checkpoint file", "从检查点文件恢复"),
    "checkpoint_file": Text("A file", "文件"),
    "checkpoint_text": Text("or its text", "或粘贴其内容"),
    "checkpoint_go": Text("Resume from it", "从这个检查点恢复"),
    "checkpoint_back": Text("Back to the experiment", "回到实验"),
    "none": Text("–", "–"),
    "network": Text("Concept network", "概念网络"),
    "network_caption": Text(
        "A solid line joins a concept to the section that marks it first; a dashed one shows where it comes back."
        " Dashed lines are repetition, not cause.",
        "实线把概念与最先标记它的章节相连；虚线表示它在别处再次出现。虚线只是重复，不是因果。",
    ),
    "network_filter": Text("Filter by name", "按名称筛选"),
    "network_list": Text("The same as a list", "以列表查看"),
    "kind_note": Text("notes", "笔记"),
    "kind_section": Text("sections", "章节"),
    "kind_concept": Text("concepts", "概念"),
    "kind_repeats": Text("repetitions", "重复"),
    "kind_names": Text("mentions", "提及"),
    "kind_shared": Text("companions", "同现"),
    "line_marks": Text("the note marks the concept", "笔记标记了这个概念"),
    "line_names": Text("the note only names it", "笔记只是提到它"),
    "line_links": Text("one note links to the other", "一篇笔记链接到另一篇"),
    "line_shared": Text("the same notes speak of both", "同一些笔记谈到两者"),
    "legend": Text("What is drawn how", "图例"),
    "kind_links": Text("links", "链接"),
    "by_kind": Text("Kind", "种类"),
    "beside": Text("In this picture joined to", "图中与之相连"),
    "around_this": Text("the network around it", "只看它周围"),
    "in_garden": Text("This note in the network of the garden", "在花园的网络中看这篇笔记"),
    "whole_network": Text("the whole network", "看整个网络"),
    "around": Text("The network around {}.", "“{}”周围的网络。"),
    "garden_network": Text("The network of the garden", "花园的网络"),
    "garden_caption": Text("No line claims a cause.", "线都不代表因果。"),
    "best_joined": Text(
        " Of so many, those with most lines are drawn; filters, search and what surrounds a node show the others.",
        "数量太多，只画连线最多的那些；其余的可以通过筛选、搜索或“只看它周围”找到。",
    ),
    "being_drawn": Text("The picture is being drawn; it will be here in a moment.", "正在绘图，片刻就好。"),
    "nothing_asked": Text("Nothing in the garden is like this.", "花园里没有这样的笔记或概念。"),
    "more_notes": Text("And in", "另见"),
    "in_context": Text("read in context", "在文中阅读"),
    "occurs": Text("Where it occurs", "出现之处"),
    "close": Text("Close", "关闭"),
    "preview_pin": Text("Keep open", "保持打开"),
    "preview_open": Text("Open", "打开"),
    "growth_about": Text("What is a digital garden?", "什么是数字花园？"),
    "garden_about": Text(
        "A digital garden is a set of notes that are tended over time, rather than posts in a row that are finished"
        " when they are published. A note may stay unripe in public; its mark says how far it has grown. The idea"
        " follows the writing of Andy Matuschak and Maggie Appleton.",
        "数字花园是一组长期照料的笔记，而不是按日期排列、发布即定稿的文章。笔记可以尚未成熟就公开，"
        "标记会说明它长到了哪一步。这个想法来自 Andy Matuschak 与 Maggie Appleton 的文章。",
    ),
    "growth_seedling": Text("Seedling", "幼苗"),
    "growth_budding": Text("Budding", "含苞"),
    "growth_evergreen": Text("Evergreen", "常青"),
    "growth_speculative": Text("Speculative", "待验证"),
    "about_seedling": Text("raw thoughts, reading notes, open questions", "零散的想法、阅读笔记、尚未回答的问题"),
    "about_budding": Text(
        "a structured thesis with preliminary mathematics or code, being revised",
        "有结构的论点，附初步的数学或代码，仍在修改",
    ),
    "about_evergreen": Text("settled, a lasting reference", "已经稳定，可长期参考"),
    "about_speculative": Text("hypotheses with instruments to test them", "假设，连同检验它的工具"),
    "home_title": Text("Notes that run what they say", "文中的数字，都真的算过"),
    "home_lead": Text(
        "A garden about why training results change. Its numbers are executed instead of quoted: press one, and the"
        " computation that gave it opens in that very state.",
        "这座花园记录训练结果为何会变。文中的数字不是抄来的，而是执行得到的：点开一个，就能看到算出它的那一次计算。",
    ),
    "by_date": Text("By date", "按日期"),
    "and_more": Text("and {} more", "还有 {} 篇"),
    "gallery_lead": Text(
        "Each of these runs on the server when a value changes, and every state has an address of its own.",
        "每个实验都在服务器上随参数变化而运行，每个状态都有自己的地址。",
    ),
    "used_in": Text("Used in", "出现在"),
    "concepts_lead": Text(
        "One term for each idea, and every place where the garden speaks of it.",
        "每个概念一个术语，以及花园里提到它的每一处。",
    ),
    "not_in_notes": Text("No note speaks of it yet.", "还没有笔记提到它。"),
    "nearest": Text("The nearest notes", "最接近的笔记"),
    "go_home": Text("All notes", "全部笔记"),
    "api_title": Text("For programs", "程序接口"),
    "api_lead": Text(
        "Search and every experiment answer in JSON. The description for tools is at",
        "搜索和每个实验都以 JSON 应答。供工具读取的描述位于",
    ),
    "parameter": Text("parameter", "参数"),
    "meaning": Text("meaning", "含义"),
    "default": Text("default", "默认值"),
    "accepts": Text("accepts", "取值"),
    "last_shown": Text("Shown below is the state that this page starts from.", "下面显示的是本页最初的状态。"),
    "colon": Text(": ", "："),
    "semicolon": Text("; ", "；"),
    "stop": Text(".", "。"),
    "listing": Text(", ", "、"),
    "in_notes": Text("· notes: {}", "· {} 篇笔记"),
    "also": Text("also", "又称"),
    "empty": Text("No note has been planted yet.", "还没有种下任何笔记。"),
    "wrong_address": Text("The address asks for something that is not on this page:", "地址里有本页没有的东西："),
    "no_such_embed": Text("no experiment on this page has that name", "本页没有叫这个名字的实验"),
    "backlinks": Text("Notes that link here", "链接到本页的笔记"),
    "more_sentences": Text("More sentences there that link here: {}", "该文另有 {} 句链接到这里"),
    "shown_there": Text("shows this text, or a part of it, in its own", "在文中引入了这里的内容"),
    "history": Text("history", "修改历史"),
    "history_of": Text("History: {}", "修改历史：{}"),
    "history_lead": Text("What changed in this note, and when.", "这篇笔记何时改了什么。"),
    "history_missing": Text(
        "This garden is served without a repository, so nothing is known of what changed when.",
        "这座花园没有附带版本仓库，无从得知何时改了什么。",
    ),
    "history_shallow": Text(
        "The repository here is a shallow clone: what changed before is not known.",
        "这里的版本仓库只是浅克隆：更早的修改无从得知。",
    ),
    "history_empty": Text("No change of this note is on record.", "没有这篇笔记的修改记录。"),
    "back_to_note": Text("Back to the note", "回到笔记"),
    "change_planted": Text("planted", "种下"),
    "change_text": Text("text changed", "修改正文"),
    "change_front_matter": Text("only what stands above the text changed", "只改了正文之上的信息"),
    "what_changed": Text("What changed", "改了什么"),
    "unchanged": Text("{} paragraphs unchanged", "{} 段未改动"),
    "text_not_kept": Text("The texts of this change are not kept here.", "这里没有保存这次修改的文本。"),
    "older_changes": Text("Older changes that are not listed: {}", "未列出的更早修改：{} 次"),
    "changed_since": Text("Changed since this translation.", "译出之后，原文又有改动。"),
    "read_other": Text("Read the other text", "看原文"),
    "what_changed_there": Text("What changed in the other text", "原文改了什么"),
    "old_text_unknown": Text(
        "What changed cannot be shown: the text that was translated is not in the history that is known here.",
        "无法显示改动：在这里已知的历史中找不到当时所译的文本。",
    ),
    "health": Text("Health of the garden", "花园体检"),
    "faults": Text("The garden cannot be grown yet", "花园还不能长成"),
    "faults_lead": Text(
        "These have to be mended first. The page follows as soon as they are.",
        "先改好下面这些；一改好，这一页就会跟着更新。",
    ),
    "health_lead": Text(
        "What is known to be missing, late or wrong in this garden, said in public.",
        "这座花园里已知的缺漏、滞后与出入，公开列在这里。",
    ),
    "by_growth": Text("Notes by growth", "各成熟度的笔记"),
    "this_language": Text("English", "中文"),
    "drafts_served": Text(
        "Drafts among them, served because they were asked for: {}", "其中草稿（按要求一并显示）：{} 篇"
    ),
    "healthy": Text("Nothing is known to be wrong.", "没有发现问题。"),
    "ailment_unwritten": Text("Links to what is not written yet", "指向尚未写成的内容的链接"),
    "ailment_collision": Text("Names that collide", "重名"),
    "ailment_orphan": Text("Notes that nothing links to", "没有被链接的笔记"),
    "ailment_untranslated": Text("Missing translations", "缺少译文"),
    "ailment_outdated": Text("Translations that are behind", "落后于原文的译文"),
    "ailment_number": Text(
        "Measured numbers that are missing, stale or differ here", "缺失、过期或在此处不同的实测数字"
    ),
    "ailment_unreadable": Text("Pieces that cannot be read", "无法读取的内容"),
    "ailment_odd": Text("Other warnings", "其他提醒"),
    "missed": Text("Asked for and not found", "有人访问却不存在的地址"),
    "missed_lead": Text(
        "Addresses of pages since the start, without queries; nothing is kept of who asked.",
        "自启动以来的页面地址，不含查询参数；不记录是谁访问的。",
    ),
    "asked": Text("× {}", "{} 次"),
    "meant": Text("Perhaps this was meant: ", "可能是指："),
    "add_alias": Text("To lead there, write in {}: ", "若要让它通向那里，请在 {} 中写上："),
    "since": Text("new since your last visit", "上次来访后有更新"),
    "tagged": Text("Tagged: {}", "标签：{}"),
    "feed": Text("What was tended last", "最近照料的笔记"),
    "cite": Text("Cite this note", "引用这篇笔记"),
    "search": Text("Search", "搜索"),
    "search_for": Text("Search the notes", "搜索笔记"),
    "search_hint": Text(
        "Finds the notes that contain every word, whole or as a part of another, from one character up.",
        "找出包含每个词的笔记，一个字也能搜；词与词之间用空格隔开。",
    ),
    "search_keys": Text("/ leads to the box, ↓ and ↑ through what was found.", "按 / 回到搜索框，按 ↓ ↑ 浏览结果。"),
    "search_wrong": Text("The address asks for what search does not know:", "地址里有搜索不认识的内容："),
    "search_unreachable": Text(
        "The server did not answer; what is shown was found before.", "服务器没有应答；显示的仍是之前的结果。"
    ),
    "mentions": Text("Notes with these words in them", "含有这些词的笔记"),
    "found": Text("Notes found: {}.", "找到 {} 篇笔记。"),
    "found_none": Text("No note contains all of this.", "没有一篇笔记包含全部这些词。"),
    "found_near": Text("Others are near.", "另有相近的笔记。"),
    "near": Text("Near", "相近的笔记"),
    "near_lead": Text(
        "Not in these words: the same idea under another name or in the other language, or another spelling.",
        "用词不同：同一概念的别称或另一种语言的说法，或另一种写法。",
    ),
    "speaks_of": Text("speaks of", "谈到"),
    "filters": Text("Filters", "筛选"),
    "all": Text("all", "全部"),
    "by_language": Text("Language", "语言"),
    "by_stage": Text("Growth", "成熟度"),
    "by_tag": Text("Tag", "标签"),
    "show_more": Text("Show more", "显示更多"),
    "api_search": Text(
        "The notes that contain every word of a query. total counts all of them, listed or not.",
        "包含查询中每个词的笔记。total 是全部篇数，与列出多少无关。",
    ),
    "other_language": Text("中文", "English"),
    "copy_still": Text(
        "This is a still copy of the garden: it shows what was computed when it was made.",
        "这是花园的静态副本，只显示制作副本时算好的结果。",
    ),
    "copy_live": Text("Change these values in the living garden", "到在线花园里调整这些参数"),
    "copy_gallery_lead": Text(
        "Each experiment in the states of its presets, as they were computed when this copy was made.",
        "每个实验都带有预设的几个状态，结果在制作这份副本时算好。",
    ),
    "copy_search_lead": Text(
        "This copy is searched in your browser, less exactly than the garden itself: only the notes in this language,"
        " only whole words, their endings counted as the same.",
        "这份副本在浏览器里搜索，不如在线花园准确：只搜本语言的笔记，按切分好的词匹配，只输入词的一部分可能搜不到。",
    ),
    "copy_search_live": Text("Search exactly, in the living garden", "到在线花园里精确搜索"),
    "copy_search_scripts": Text("To search a copy takes JavaScript.", "在副本中搜索需要启用 JavaScript。"),
    "copy_search_lost": Text("The index of this copy could not be loaded.", "无法载入这份副本的索引。"),
    "copy_lost": Text("Nothing grows at this address", "这里还什么都没长出来"),
    "copy_enter": Text("In English", "中文版"),
    "api_compare": Text(
        "Two traces, as multipart fields: `a` and `b` (files, repeatable), `noise` (a file), `require`, `tolerance`, "
        "`rule`. 400: a file is no trace; 409: they cannot be compared; 413: too large.",
        "两份轨迹，用 multipart 字段发送：`a` 与 `b`（文件，可重复）、`noise`（文件）、`require`、`tolerance`、`rule`。"
        "400：文件不是轨迹；409：无法比较；413：太大。",
    ),
    "compare_lead": Text(
        "Bring the traces of two training runs and learn the first stage and step at which they part.",
        "带上两次训练运行的轨迹，看它们最先在哪一步、哪个阶段分开。",
    ),
    "compare_private": Text(
        "A trace holds digests, norms, losses and sample ids, and no data; at level 3 also a few values of each "
        "weight. It is compared here and kept nowhere.",
        "轨迹里是摘要、范数、损失和样本编号，不含数据；只有级别 3 会记下每个权重的几个数值。"
        "比较在这里完成，什么都不保留。",
    ),
    "compare_a": Text("Run A, to compare with", "运行 A：作为对照"),
    "compare_a_help": Text("One file, or one for each rank.", "一个文件；多进程训练请选上每个进程的文件。"),
    "compare_b": Text("Run B", "运行 B"),
    "compare_b_help": Text(
        "If it was resumed, all of its files, in order.", "如果恢复过，请按先后顺序选上它的全部文件。"
    ),
    "compare_more": Text("Tolerances, noise floor, conclusions", "容差、噪声底与结论"),
    "compare_noise": Text("Run A once more", "再跑一次的 A"),
    "compare_noise_help": Text(
        "Unchanged. What already differs there is blamed on nobody.",
        "把 A 原样再跑一遍。两者之间本来就有的差异，不算到 B 头上。",
    ),
    "compare_tolerance_label": Text("Tolerances", "容差"),
    "compare_tolerance_help": Text(
        "stage=relative,absolute; several with spaces between.", "阶段=相对,绝对；多个之间用空格隔开。"
    ),
    "compare_rule": Text("Rule, written before the runs", "规则（运行之前写下）"),
    "compare_rule_help": Text(
        "Then choose all runs of each side, one file a seed.", "此时请为每一边选上全部运行，每个种子一个文件。"
    ),
    "compare_require": Text("Level that is required", "要求达到的层次"),
    "compare_start": Text("Compare", "比较"),
    "compare_sending": Text("Sending the traces: {} %", "正在发送轨迹：{} %"),
    "compare_reading": Text("Comparing: {} %", "正在比较：{} %"),
    "compare_too_large": Text("Together these files are larger than {} MB.", "这些文件合计超过 {} MB。"),
    "compare_failed": Text("The connection was lost before the answer came.", "还没等到结果，连接就断了。"),
    "compare_try": Text("Try it on a real training", "用真实的训练试一试"),
    "compare_try_lead": Text(
        "Each of these is compared with the same uninterrupted run, and something was done to it.",
        "下面每次运行都与同一次未中断的运行比较，各自被动过一处手脚。",
    ),
    "compare_record": Text("Record your own run", "记录自己的运行"),
    "compare_record_lead": Text(
        "Copy one file into your project; it needs torch 2.2 or later, nothing else. Three lines record a plain loop:",
        "把一个文件拷进你的项目，它只需要 torch 2.2 或更新的版本。普通的训练循环加三行就能记录：",
    ),
    "compare_before_forward": Text("before the forward pass", "前向之前"),
    "compare_before_backward": Text(
        "before backward; what the mean was taken over", "反向之前；count 是取平均时除以的数"
    ),
    "compare_schema": Text("What stands in a trace", "轨迹的格式"),
    "compare_files": Text("The two traces: {} and {}", "这两份轨迹：{} 与 {}"),
    "compare_ladder": Text("The ladder", "因果阶梯"),
    "compare_ladder_lead": Text(
        "From top to bottom in causal order: what differs on a rung can only come from those above it, or from an "
        "earlier step.",
        "自上而下按因果排列：某一级不同，只可能来自它上面的各级，或更早的一步。",
    ),
    "compare_from": Text("from step {}", "从第 {} 步起"),
    "compare_here": Text("they part here", "从这里分开"),
    "compare_held": Text("meets what was required: {}", "达到了所要求的“{}”"),
    "compare_not_held": Text("does not meet what was required: {}", "没有达到所要求的“{}”"),
    "compare_hints": Text("What it looks like", "看起来像什么"),
    "compare_next": Text("Next", "接下来"),
    "compare_advice": Text("To record next", "接下来记录什么"),
    "compare_explained": Text("Explained under “{}”", "详见“{}”"),
    "compare_records": Text("Around the first difference", "第一处差异前后"),
    "compare_last_equal": Text("The last record that is equal", "最后一条相同的记录"),
    "compare_first_unequal": Text("The first record that is not", "第一条不同的记录"),
    "compare_field": Text("Field", "字段"),
    "compare_value": Text("Both", "两边"),
    "compare_tensors": Text("Tensors by name", "逐个张量"),
    "compare_tensor": Text("Tensor", "张量"),
    "compare_norm_a": Text("Norm in A", "A 的范数"),
    "compare_norm_b": Text("Norm in B", "B 的范数"),
    "compare_same": Text("same bits", "比特相同"),
    "compare_apart": Text("differs", "不同"),
    "compare_more_rows": Text("{} more", "另有 {} 个"),
    "compare_curves": Text("Curves", "曲线"),
    "compare_conclusion": Text("Conclusion", "结论"),
    "compare_metric": Text("metric", "指标"),
    "compare_seeds_a": Text("seeds of A", "A 的种子"),
    "compare_seeds_b": Text("seeds of B", "B 的种子"),
    "compare_difference": Text("difference of the means", "均值之差"),
    "compare_chance": Text("P(A > B), 95 % interval", "P(A > B) 及 95 % 区间"),
    "compare_repeated": Text("left out: repeat another run to the bit", "未计入：与另一次运行逐位相同"),
    "compare_facts": Text("What was compared", "比较了什么"),
    "compare_steps": Text("steps that both have", "共有的步数"),
    "compare_only": Text("steps only in A / only in B", "只在 A / 只在 B 的步数"),
    "compare_seen_twice": Text("samples that B saw more often than A", "B 比 A 多用样本的次数"),
    "compare_never_seen": Text("samples that B saw less often than A", "B 比 A 少用样本的次数"),
    "compare_horizon": Text("closeness means nothing past step", "超过此步，接近与否不再说明什么"),
    "compare_tolerance": Text("tolerance (relative, absolute)", "容差（相对，绝对）"),
    "compare_noise_floor": Text("noise floor: A against itself", "噪声底：A 与它自身"),
    "compare_resumed": Text("B was resumed after step", "B 在哪一步之后恢复"),
    "compare_torn": Text("line that ends in the middle", "只写了一半的行"),
    "compare_anew": Text("begins anew here; the run before it is left out", "从这里重新开始，此前的运行不计"),
    "compare_environment": Text("Environment that differs", "不同的环境"),
    "compare_unclaimed": Text("What is not claimed", "哪些没有断言"),
    "compare_still": Text(
        "This copy stands still and compares nothing; the examples below were compared when it was made. On your own "
        "machine the command does: perennial compare A.jsonl B.jsonl",
        "这份副本是静态的，不能比较；下面的例子在制作副本时已经比较好。"
        "在自己的机器上可以用命令：perennial compare A.jsonl B.jsonl",
    ),
    "compare_live": Text("Compare in the living garden", "到在线花园里比较"),
    "compare_made": Text("Made by Perennial {}", "由 Perennial {} 生成"),
}


class Words:
    """The words in one language: `words.notes`; a missing name is an error, as a missing variable is."""

    def __init__(self, language: Language) -> None:
        self._language = language

    def __getattr__(self, name: str) -> str:
        try:
            return WORDS[name][self._language]
        except KeyError:
            raise AttributeError(f"the interface has no words called {name!r}") from None

    def __getitem__(self, name: str) -> str:
        return WORDS[name][self._language]
